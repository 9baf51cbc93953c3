package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The receives of short-lived connections all return to the budget, polled before the connection was closed or after. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SharedReceiveQueueTest {
    private static final int MESSAGES = 5;
    private static final int LENGTH = 8;
    private static final int ROUNDS = 40;

    private final Peer peer = Peer.ofLocal(TestDevice.address());
    private final LocalMemoryRegion memory = peer.allocate(LENGTH, MemoryUsage.SEND, MemoryUsage.RECEIVE);
    private final SharedReceiveQueue shared = create();
    private final RpmaCompletionQueue queue = shared.receiveCompletionQueue().orElseThrow();
    private final Completions completions = new Completions();
    private long posted;

    @AfterEach
    void close() {
        shared.close();
        memory.close();
        peer.close();
    }

    @Test
    void shouldKeepTheCompletionsOfAClosedConnection() {
        int accepted = post();
        final int depth = accepted;
        for (long first = 0; first < 3 * depth; first += MESSAGES) {
            sendFromOneConnection();
            assertKept(queue, first);
            assertEquals(depth - MESSAGES, queue.budget().inFlight());
            accepted = post();
            assertEquals(MESSAGES, accepted);
        }
    }

    @Test
    void shouldKeepThemForPollsOfTheVerbsQueue() {
        post();
        try (VerbsCompletionQueue verbs = queue.openVerbs()) {
            sendFromOneConnection();
            assertKept(verbs, 0);
        }
    }

    @Test
    void shouldKeepThemForTheOldCall() {
        post();
        sendFromOneConnection();
        final LegacyCompletion completion = new LegacyCompletion();
        for (int i = 0; i < MESSAGES; i++) {
            assertEquals(0, queue.getCompletion(completion));
            assertEquals(i, completion.opContext());
        }
        assertEquals(RpmaError.NO_COMPLETION, queue.getCompletion(completion));
    }

    @Test
    void shouldKeepThoseOfSeveralConnectionsInTheirOrder() {
        post();
        sendFromOneConnection();
        sendFromOneConnection();
        completions.await(queue, 2 * MESSAGES);
        for (int i = 0; i < 2 * MESSAGES; i++) {
            assertEquals(i, completions.at(i).workRequestId());
        }
    }

    @Test
    void shouldGiveEachOnceToAThreadThatPollsMeanwhile() {
        post();
        final AtomicInteger rounds = new AtomicInteger();
        final OtherThread<Void> sender = OtherThread.run(() -> {
            while (rounds.get() < ROUNDS) {
                sendFromOneConnection();
                rounds.incrementAndGet();
            }
            return null;
        });
        for (long expected = 0; expected < ROUNDS * MESSAGES; expected++) {
            // One sender: the receives are consumed in the order in which they were posted.
            assertEquals(expected, completions.awaitOne(queue).workRequestId());
            post();
        }
        sender.result();
        assertEquals(0, queue.poll(completions.records(), 0, 1));
        assertEquals(queue.budget().depth(), queue.budget().inFlight());
    }

    private SharedReceiveQueue create() {
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(16).rcqSize(16)) {
            return peer.sharedReceiveQueue(config);
        }
    }

    /** Posts as many receives as are accepted. */
    private int post() {
        int accepted = 0;
        while (shared.receive(memory, 0, LENGTH, posted)) {
            posted++;
            accepted++;
        }
        return accepted;
    }

    /** Sends messages to a connection that is closed before it has polled them. */
    private void sendFromOneConnection() {
        final String port = ConnectedPair.anyPort();
        try (Endpoint endpoint = peer.listen(TestDevice.address(), port);
            ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(shared);
            Connection client = peer.request(TestDevice.address(), port).connect();
            Connection server =
                endpoint.nextRequest(config, ConnectedPair.TIMEOUT_MS).orElseThrow().connect()) {
            client.nextEvent(ConnectedPair.TIMEOUT_MS);
            server.nextEvent(ConnectedPair.TIMEOUT_MS);
            for (int i = 0; i < MESSAGES; i++) {
                assertTrue(client.send(memory, 0, LENGTH, CompletionFlag.ALWAYS, i));
            }
            new Completions().await(client.completionQueue(), MESSAGES);
        }
    }

    private void assertKept(final CompletionQueue polled, final long first) {
        for (int i = 0; i < MESSAGES; i++) {
            assertTrue(completions.awaitOne(polled).isSuccess());
            assertEquals(first + i, completions.at(0).workRequestId());
        }
        assertEquals(0, polled.poll(completions.records(), 0, 1));
    }
}
