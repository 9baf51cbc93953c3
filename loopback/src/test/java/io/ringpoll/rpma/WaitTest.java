package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** rpma_cq_wait and rpma_conn_wait: with and without a shared channel, with a time-out, and ended by close. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WaitTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final Completions SCRATCH = new Completions(1);

    private final Completions completions = new Completions();

    @Test
    void shouldWakeOnACompletion() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.server().completionQueue();
            assertTrue(pair.server().receive(null, 0, 0, 1));
            final OtherThread<Boolean> waiting = OtherThread.run(() -> queue.await(TIMEOUT_MS));
            waiting.requireWaiting();
            assertTrue(pair.client().send(null, 0, 0, CompletionFlag.ON_ERROR, 1));
            assertTrue(waiting.result());
            assertEquals(1, queue.poll(completions.records(), 0, 2));
        }
    }

    @Test
    void shouldReturnAtOnceAfterACompletion() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            send(pair);
            assertTrue(pair.server().completionQueue().await(TIMEOUT_MS));
            assertFalse(pair.server().completionQueue().await(0), "the event was taken");
        }
    }

    @Test
    void shouldReturnFalseAtTheTimeOut() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final long startNs = System.nanoTime();
            assertFalse(pair.server().completionQueue().await(20));
            assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(20));
            assertFalse(pair.server().completionQueue().await(0));
        }
    }

    @Test
    void shouldCountATimeOutFromTheBeginningOfTheWait() {
        final long longAgoNs = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(4_000);
        final int remainingMs = Deadline.remainingMs(TIMEOUT_MS, longAgoNs);
        assertTrue(remainingMs > 0 && remainingMs <= TIMEOUT_MS - 4_000, remainingMs + " ms");
        assertEquals(0, Deadline.remainingMs(3_000, longAgoNs));
        assertEquals(0, Deadline.remainingMs(0, longAgoNs));
        assertEquals(-1, Deadline.remainingMs(-1, longAgoNs));
    }

    @Test
    void shouldGiveOneEventForCompletionsThatCameTogetherAndOneForTheNext() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.server().completionQueue();
            send(pair);
            assertTrue(queue.await(TIMEOUT_MS));
            completions.await(queue, 1);
            assertFalse(queue.await(0));
            send(pair);
            assertTrue(queue.await(TIMEOUT_MS));
            completions.await(queue, 1);
        }
    }

    @Test
    void shouldRefuseToWaitForOneQueueOfASharedChannel() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true))) {
            final RpmaException main =
                assertThrows(RpmaException.class, () -> pair.server().completionQueue().await(TIMEOUT_MS));
            assertEquals(RpmaError.SHARED_CHANNEL, main.code());
            final RpmaException receive = assertThrows(RpmaException.class,
                () -> pair.server().receiveCompletionQueue().orElseThrow().await(TIMEOUT_MS));
            assertEquals(RpmaError.SHARED_CHANNEL, receive.code());
            assertEquals(pair.server().completionFd(), pair.server().completionQueue().fd());
        }
    }

    @Test
    void shouldReturnTheQueueOfTheEventOnASharedChannel() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true))) {
            send(pair);
            final RpmaCompletionQueue receives = pair.server().receiveCompletionQueue().orElseThrow();
            assertSame(receives, pair.server().awaitCompletions(TIMEOUT_MS).orElseThrow());
            assertEquals(1, receives.poll(completions.records(), 0, 2));
            assertEquals(Optional.empty(), pair.server().awaitCompletions(0));
            assertTrue(pair.server().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            final RpmaCompletionQueue main = pair.server().completionQueue();
            assertSame(main, pair.server().awaitCompletions(TIMEOUT_MS).orElseThrow());
            assertEquals(1, main.poll(completions.records(), 0, 2));
            assertEquals(Optional.empty(), pair.server().awaitCompletions(5));
        }
    }

    @Test
    void shouldRefuseToWaitForAConnectionWhoseChannelsAreSeparate() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10))) {
            final RpmaException wait = assertThrows(RpmaException.class, () -> pair.server().awaitCompletions(TIMEOUT_MS));
            assertEquals(RpmaError.NOT_SHARED_CHNL, wait.code());
            final RpmaException fd = assertThrows(RpmaException.class, () -> pair.server().completionFd());
            assertEquals(RpmaError.NOT_SHARED_CHNL, fd.code());
        }
    }

    @Test
    void shouldEndWaitsOfOtherThreadsOnClose() {
        final ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true));
        final ConnectedPair separate = ConnectedPair.ofDefaults();
        final OtherThread<?> channel = OtherThread.run(() -> pair.server().awaitCompletions(-1));
        final OtherThread<?> event = OtherThread.run(() -> pair.server().nextEvent(-1));
        final OtherThread<?> queue = OtherThread.run(() -> separate.server().completionQueue().await(-1));
        channel.requireWaiting();
        event.requireWaiting();
        queue.requireWaiting();
        pair.server().close();
        separate.server().close();
        assertEquals(pair.server().name() + " is closed", channel.failure(IllegalStateException.class).getMessage());
        assertEquals(pair.server().name() + " is closed", event.failure(IllegalStateException.class).getMessage());
        assertEquals(separate.server().completionQueue().name() + " is closed",
            queue.failure(IllegalStateException.class).getMessage());
        pair.close();
        separate.close();
    }

    @Test
    void shouldGiveEachRequestToOneOfTheThreadsThatWaitAndLetTheOthersWaitOn() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final String port = ConnectedPair.anyPort();
            final Endpoint endpoint = peer.listen(TestDevice.address(), port);
            final List<OtherThread<Optional<ConnectionRequest>>> takers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                takers.add(OtherThread.run(() -> endpoint.nextRequest(TIMEOUT_MS)));
            }
            takers.forEach(OtherThread::requireWaiting);
            final List<Connection> clients = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                clients.add(peer.request(TestDevice.address(), port).connect());
            }
            takers.forEach(taker -> taker.result().orElseThrow().close());
            clients.forEach(Connection::close);
            endpoint.close();
        }
    }

    @Test
    void shouldEndAWaitForARequestOnClose() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final Endpoint endpoint = peer.listen(TestDevice.address(), ConnectedPair.anyPort());
            final OtherThread<?> waiting = OtherThread.run(() -> endpoint.nextRequest(-1));
            waiting.requireWaiting();
            endpoint.close();
            assertEquals(endpoint.name() + " is closed", waiting.failure(IllegalStateException.class).getMessage());
        }
    }

    private static void send(final ConnectedPair pair) {
        if (!pair.server().receive(null, 0, 0, 1) || !pair.client().send(null, 0, 0, CompletionFlag.ALWAYS, 1)) {
            throw new AssertionError("refused");
        }
        // Frees the send queue's entry.
        SCRATCH.await(pair.client().completionQueue(), 1);
    }
}
