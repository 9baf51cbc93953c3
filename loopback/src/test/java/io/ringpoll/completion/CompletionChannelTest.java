package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Events by ibv_req_notify_cq, ibv_get_cq_event and ibv_ack_cq_events: arm, final poll, sleep, wake, acknowledge in bulk. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CompletionChannelTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final int NOISE_INTERVAL_MS = 20;

    private final Completions completions = new Completions();
    private final Completions sent = new Completions(1);
    private ConnectedPair pair;
    private VerbsCompletionQueue queue;
    private CompletionChannel channel;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.ofDefaults();
        queue = pair.closed(pair.server().completionQueue().openVerbs());
        channel = pair.closed(CompletionChannel.borrow(queue));
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldSleepUntilACompletion() {
        queue.requestNotification(false);
        assertEquals(0, queue.poll(completions.records(), 0, 1));
        final OtherThread<VerbsCompletionQueue> waiting = OtherThread.run(() -> channel.await(TIMEOUT_MS));
        waiting.requireWaiting();
        send();
        assertSame(queue, waiting.result());
        assertEquals(1, queue.poll(completions.records(), 0, 2));
    }

    @Test
    void shouldGiveNoEventForWhatCameBeforeItWasAskedForSoThatTheFinalPollMustFindIt() {
        takeFirstEvent();
        send();
        queue.requestNotification(false);
        assertNull(channel.await(5));
        completions.await(queue, 1);
    }

    @Test
    void shouldGiveAnEventWhoseQueueIsEmptyAlready() {
        takeFirstEvent();
        queue.requestNotification(false);
        send();
        completions.await(queue, 1);
        assertSame(queue, channel.await(TIMEOUT_MS));
        assertEquals(0, queue.poll(completions.records(), 0, 1));
    }

    @Test
    void shouldReturnNullAtTheTimeOut() {
        final long startNs = System.nanoTime();
        assertNull(channel.await(20));
        assertTrue(System.nanoTime() - startNs >= TimeUnit.MILLISECONDS.toNanos(20));
        assertNull(channel.await(0));
    }

    @Test
    void shouldAcknowledgeInBulk() {
        takeFirstEvent();
        for (int i = 2; i <= CompletionChannel.ACKNOWLEDGE_BATCH + 5; i++) {
            queue.requestNotification(false);
            send();
            assertSame(queue, channel.await(TIMEOUT_MS));
            completions.await(queue, 1);
            assertEquals(i % CompletionChannel.ACKNOWLEDGE_BATCH, queue.unacknowledgedEvents());
        }
        queue.acknowledge();
        assertEquals(0, queue.unacknowledgedEvents());
    }

    @Test
    void shouldLeaveNothingUnacknowledgedSoThatTheConnectionCanBeClosed() {
        takeFirstEvent();
        assertEquals(1, queue.unacknowledgedEvents());
        // Destroying the queue would wait forever for an event without acknowledgement: the time limit would end the test.
        pair.close();
        assertTrue(pair.server().isClosed());
    }

    @Test
    void shouldServeTwoQueuesOnOneChannel() {
        try (ConnectedPair shared = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true));
            VerbsCompletionQueue main = shared.server().completionQueue().openVerbs();
            VerbsCompletionQueue receives = shared.server().receiveCompletionQueue().orElseThrow().openVerbs();
            CompletionChannel both = CompletionChannel.borrow(main, receives)) {
            assertTrue(shared.server().receive(null, 0, 0, 1));
            assertTrue(shared.client().send(null, 0, 0, CompletionFlag.ON_ERROR, 1));
            assertSame(receives, both.await(TIMEOUT_MS));
            assertTrue(shared.server().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            assertSame(main, both.await(TIMEOUT_MS));
        }
    }

    @Test
    void shouldKeepItsTimeOutDespiteEventsOfOtherQueues() throws InterruptedException {
        try (ConnectedPair shared = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true));
            VerbsCompletionQueue main = shared.server().completionQueue().openVerbs();
            VerbsCompletionQueue foreign = shared.server().receiveCompletionQueue().orElseThrow().openVerbs();
            CompletionChannel mine = CompletionChannel.borrow(main)) {
            final AtomicBoolean isOver = new AtomicBoolean();
            final CountDownLatch begun = new CountDownLatch(1);
            final OtherThread<Integer> noise = OtherThread.run(() -> {
                int events = 0;
                final long startNs = System.nanoTime();
                while (!isOver.get() && System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(TIMEOUT_MS)) {
                    foreign.requestNotification(false);
                    assertTrue(shared.server().receive(null, 0, 0, 1));
                    assertTrue(shared.client().send(null, 0, 0, CompletionFlag.ALWAYS, 1));
                    sent.await(shared.client().completionQueue(), 1);
                    completions.await(foreign, 1);
                    events++;
                    begun.countDown();
                    Thread.sleep(NOISE_INTERVAL_MS);
                }
                return events;
            });
            assertTrue(begun.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
            final long startNs = System.nanoTime();
            assertNull(mine.await(20 * NOISE_INTERVAL_MS));
            final long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            isOver.set(true);
            assertTrue(noise.result() > 0);
            assertTrue(tookMs >= 20 * NOISE_INTERVAL_MS && tookMs < TIMEOUT_MS / 2, tookMs + " ms");
        }
    }

    @Test
    void shouldRefuseQueuesOfDifferentChannels() {
        try (VerbsCompletionQueue other = pair.client().completionQueue().openVerbs()) {
            assertThrows(IllegalArgumentException.class, () -> CompletionChannel.borrow(queue, other));
        }
    }

    @Test
    void shouldServeQueuesThatAreNotTheLibrarys() {
        final Peer peer = pair.peer();
        try (CompletionChannel own = CompletionChannel.create(peer.context());
            VerbsCompletionQueue mine = VerbsCompletionQueue.create(peer.context(), "mine", 8, own)) {
            mine.requestNotification(false);
            assertNull(own.await(5));
            assertThrows(IllegalStateException.class, own::close);
        }
        try (VerbsCompletionQueue without = VerbsCompletionQueue.create(peer.context(), "mine", 8, null)) {
            assertThrows(IllegalArgumentException.class, () -> CompletionChannel.borrow(without));
        }
    }

    @Test
    void shouldIncludeAQueueOnce() {
        channel.include(queue);
        send();
        assertSame(queue, channel.await(TIMEOUT_MS));
        channel.close();
        queue.close();
    }

    /** It depends on its channel already, and could not be closed any more if the channel depended on it. */
    @Test
    void shouldCloseAQueueThatWasCreatedWithTheChannelAndIncludedInIt() {
        try (CompletionChannel own = CompletionChannel.create(pair.peer().context())) {
            final VerbsCompletionQueue mine = VerbsCompletionQueue.create(pair.peer().context(), "mine", 8, own);
            own.include(mine);
            mine.close();
            assertTrue(mine.isClosed());
        }
    }

    @Test
    void shouldRefuseAClosedQueue() {
        final VerbsCompletionQueue closed = pair.server().completionQueue().openVerbs();
        closed.close();
        assertThrows(IllegalStateException.class, () -> channel.include(closed));
        assertThrows(IllegalStateException.class, () -> CompletionChannel.borrow(closed));
        assertThrows(IllegalStateException.class, () -> CompletionChannel.borrow(queue, closed));
    }

    @Test
    void shouldIncludeAQueueOrRefuseItWhenItIsClosedAtThatMoment() {
        final int rounds = 1_000;
        final AtomicReference<VerbsCompletionQueue> toClose = new AtomicReference<>();
        final AtomicReference<Boolean> outcome = new AtomicReference<>();
        final OtherThread<Void> closer = OtherThread.run(() -> {
            for (int round = 0; round < rounds; round++) {
                final VerbsCompletionQueue other = await(toClose);
                outcome.set(isDone(other::close));
            }
            return null;
        });
        for (int round = 0; round < rounds; round++) {
            final VerbsCompletionQueue other = pair.server().completionQueue().openVerbs();
            final CompletionChannel both = CompletionChannel.borrow(queue);
            toClose.set(other);
            for (int i = round % 50; i > 0; i--) {
                Thread.onSpinWait();
            }
            final boolean isIncluded = isDone(() -> both.include(other));
            final boolean isClosed = await(outcome);
            assertTrue(isIncluded != isClosed, "included: " + isIncluded + ", closed: " + isClosed);
            assertEquals(isClosed, other.isClosed());
            both.close();
            other.close();
        }
        closer.result();
    }

    private static <T> T await(final AtomicReference<T> value) {
        final long startNs = System.nanoTime();
        while (true) {
            final T taken = value.getAndSet(null);
            if (taken != null) {
                return taken;
            }
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), "the other thread gave nothing");
            Thread.yield();
        }
    }

    private static boolean isDone(final Runnable action) {
        try {
            action.run();
            return true;
        } catch (final IllegalStateException refused) {
            return false;
        }
    }

    @Test
    void shouldEndAWaitOnClose() {
        final OtherThread<?> waiting = OtherThread.run(() -> channel.await(-1));
        waiting.requireWaiting();
        channel.close();
        assertEquals(channel.name() + " is closed", waiting.failure(IllegalStateException.class).getMessage());
        assertThrows(IllegalStateException.class, () -> channel.await(0));
    }

    /** librpma asks for the first event when it makes the queue. */
    private void takeFirstEvent() {
        send();
        assertSame(queue, channel.await(TIMEOUT_MS));
        completions.await(queue, 1);
    }

    private void send() {
        if (!pair.server().receive(null, 0, 0, 1) || !pair.client().send(null, 0, 0, CompletionFlag.ALWAYS, 1)) {
            throw new AssertionError("refused");
        }
        sent.await(pair.client().completionQueue(), 1);
    }
}
