package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.testing.ConnectedPair;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A pipeline with more queues than a plain round has. */
@Timeout(120)
class ManyQueuesTest {
    private static final int QUEUES = 100;
    private static final long COMPLETIONS = 20_000;
    private static final int PAIRS = 40;
    private static final int BUSY = 3;
    private static final int WRITES = 500;
    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    @Test
    void shouldPollABusyQueueMoreOftenThanIdleOnesUnlessItsRoundsArePlain() throws InterruptedException {
        assertTrue(idlePolls(Pipeline.builder()) <= COMPLETIONS / 2, "polled as often as the busy queue");
        assertTrue(idlePolls(Pipeline.builder().plainRounds()) >= COMPLETIONS - 1, "polled less often than the busy queue");
    }

    /** The number of polls of an idle queue while a busy one had completions at each poll. */
    private static long idlePolls(final PipelineBuilder description) throws InterruptedException {
        final CountDownLatch polled = new CountDownLatch(1);
        final EmptyQueue idle = new EmptyQueue();
        description.runToCompletion().discard(CompletionPath.SEND_WRITE).discard(CompletionPath.RECEIVE)
            .onError((wc, sequence, endOfBatch) -> { }).queue(new BusyQueue(idle, polled)).queue(idle);
        for (int i = 2; i < QUEUES; i++) {
            description.queue(new EmptyQueue());
        }
        try (Pipeline pipeline = description.start()) {
            assertTrue(polled.await(TIMEOUT_NS, TimeUnit.NANOSECONDS));
            assertEquals(COMPLETIONS, pipeline.pollerCounters().completions());
        }
        return idle.pollsOfTheLoad;
    }

    @Test
    void shouldDeliverTheCompletionsOfBusyQueuesWhileOthersAreRemovedAndDestroyed() throws Exception {
        final List<ConnectedPair> pairs = new ArrayList<>();
        final AtomicLong written = new AtomicLong();
        try (Pipeline pipeline = Pipeline.builder().onError((wc, sequence, endOfBatch) -> { })
            .onSendWrite((wc, sequence, endOfBatch) -> written.incrementAndGet()).discard(CompletionPath.RECEIVE).start()) {
            for (int i = 0; i < PAIRS; i++) {
                pairs.add(ConnectedPair.ofDefaults());
                pipeline.addQueue(pairs.get(i).client().completionQueue());
                pipeline.addQueue(pairs.get(i).server().completionQueue());
            }
            write(pairs.subList(0, BUSY), written, WRITES);
            // The last pairs are among the recently active ones when their queues are removed.
            final List<ConnectedPair> leaving = pairs.subList(PAIRS - BUSY, PAIRS);
            write(leaving, written, BUSY * 10L);
            for (final ConnectedPair pair : leaving) {
                pipeline.removeQueue(pair.client().completionQueue());
                pipeline.removeQueue(pair.server().completionQueue());
                pair.close();
            }
            leaving.clear();
            write(pairs.subList(0, BUSY), written, WRITES);
            assertEquals(2 * WRITES + BUSY * 10L, written.get());
            assertEquals(0, pipeline.pollerCounters().queueFaults());
        } finally {
            pairs.forEach(ConnectedPair::close);
        }
    }

    /** Writes through all connections in turns, and waits for the completions. */
    private static void write(final List<ConnectedPair> pairs, final AtomicLong written, final long number)
        throws InterruptedException {
        final long deadlineNs = System.nanoTime() + TIMEOUT_NS;
        final long all = written.get() + number;
        for (long i = 0; i < number; i++) {
            final Connection connection = pairs.get((int) (i % pairs.size())).client();
            while (!connection.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, i)) {
                assertTrue(System.nanoTime() < deadlineNs, "no room after " + i + " writes");
                Thread.onSpinWait();
            }
        }
        while (written.get() < all) {
            assertTrue(System.nanoTime() < deadlineNs, "written " + written + " of " + all);
            Thread.sleep(1);
        }
    }

    /** A queue that is always empty. */
    private static final class EmptyQueue implements CompletionQueue {
        /** Written and read by the polling thread. */
        private long polls;
        /** Polls until the last completion of the busy queue. */
        private volatile long pollsOfTheLoad;

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            polls++;
            return 0;
        }

        @Override
        public String name() {
            return "empty";
        }
    }

    /** A queue with a completion at each poll, up to their total number. */
    private record BusyQueue(EmptyQueue idle, CountDownLatch polled, long[] left) implements CompletionQueue {
        private BusyQueue(final EmptyQueue idle, final CountDownLatch polled) {
            this(idle, polled, new long[] {COMPLETIONS});
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            if (left[0] > 0) {
                left[0]--;
                idle.pollsOfTheLoad = idle.polls;
                return 1;
            }
            polled.countDown();
            return 0;
        }

        @Override
        public String name() {
            return "busy";
        }
    }
}
