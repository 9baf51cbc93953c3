package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.SelfConnectedQueuePair;
import io.ringpoll.testing.TestDevice;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A completion queue that has nothing to do with librpma, on a channel of its own: completions, events, and its end. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ForeignQueueTest {
    private static final int PER_MESSAGE = 2;

    private final Completions completions = new Completions();
    private Peer peer;
    private CompletionChannel channel;
    private VerbsCompletionQueue queue;
    private SelfConnectedQueuePair queuePair;

    @BeforeEach
    void attach() {
        peer = Peer.ofLocal(TestDevice.address());
        channel = CompletionChannel.create(peer.context());
        queue = VerbsCompletionQueue.create(peer.context(), "foreign", 256, channel);
        queuePair = new SelfConnectedQueuePair(peer.context().address(), queue.identity());
    }

    @AfterEach
    void detach() {
        queuePair.close();
        queue.close();
        channel.close();
        peer.close();
    }

    @Test
    void shouldReturnItsCompletions() {
        for (int i = 0; i < 10; i++) {
            queuePair.send(i);
            completions.await(queue, PER_MESSAGE);
            assertEquals(i, completions.at(0).workRequestId());
            assertEquals(i, completions.at(1).workRequestId());
            assertEquals(Set.of(WcOpcode.SEND, WcOpcode.RECV), Set.of(completions.at(0).opcode(), completions.at(1).opcode()));
            assertTrue(completions.at(0).isSuccess() && completions.at(1).isSuccess());
        }
    }

    @Test
    void shouldWakeAThreadThatSleepsOnItsChannel() {
        queue.requestNotification(false);
        assertEquals(0, queue.poll(completions.records(), 0, 1));
        final OtherThread<VerbsCompletionQueue> waiting = OtherThread.run(() -> channel.await(ConnectedPair.TIMEOUT_MS));
        waiting.requireWaiting();
        queuePair.send(7);
        assertSame(queue, waiting.result());
        completions.await(queue, PER_MESSAGE);
        assertNull(channel.await(0), "one event for one request");
    }

    @Test
    void shouldAcknowledgeItsEventsInBulkAndTheRestAtItsEnd() {
        final int events = CompletionChannel.ACKNOWLEDGE_BATCH + 3;
        for (int i = 1; i <= events; i++) {
            queue.requestNotification(false);
            queuePair.send(i);
            assertSame(queue, channel.await(ConnectedPair.TIMEOUT_MS));
            completions.await(queue, PER_MESSAGE);
            assertEquals(i % CompletionChannel.ACKNOWLEDGE_BATCH, queue.unacknowledgedEvents());
        }
        queuePair.close();
        // The time limit would end a destroy that waits for an event without acknowledgement.
        final OtherThread<Void> end = OtherThread.run(() -> {
            queue.close();
            return null;
        });
        end.result();
        assertTrue(queue.isClosed());
        queue = VerbsCompletionQueue.create(peer.context(), "another", 16, channel);
        queuePair = new SelfConnectedQueuePair(peer.context().address(), queue.identity());
    }

    @Test
    void shouldBeClosedWhileAnotherThreadTakesItsEvents() {
        for (int i = 0; i < 50; i++) {
            final OtherThread<VerbsCompletionQueue> taker = OtherThread.run(() -> channel.await(20));
            queue.requestNotification(false);
            queuePair.send(i);
            queuePair.close();
            final OtherThread<Void> end = OtherThread.run(() -> {
                queue.close();
                return null;
            });
            end.result();
            taker.result();
            assertFalse(channel.isClosed());
            queue = VerbsCompletionQueue.create(peer.context(), "foreign", 256, channel);
            queuePair = new SelfConnectedQueuePair(peer.context().address(), queue.identity());
        }
    }
}
