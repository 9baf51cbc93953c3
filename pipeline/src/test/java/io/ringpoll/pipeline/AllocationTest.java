package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletions;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long WARM_UP = 2_000_000;
    private static final long MEASURED = 10_000_000;
    private static final int ROUNDS = 5;

    @Test
    void shouldAllocateNothingOverTenMillionCompletions() throws InterruptedException {
        assertAllocatesNothing(Pipeline.builder()
            .ringSize(4096)
            .onSendWrite((wc, sequence, endOfBatch) -> { }, options -> options.maxHeld(8))
            .onReceiveBatch(batch -> { })
            .then((wc, sequence, endOfBatch) -> { }, options -> options.waitStrategy(WaitMode.BLOCK))
            .onError((wc, sequence, endOfBatch) -> { }));
    }

    @Test
    void shouldAllocateNothingWhenHandlersRunOnThePollingThread() throws InterruptedException {
        assertAllocatesNothing(Pipeline.builder()
            .runToCompletion()
            .onSendWrite((wc, sequence, endOfBatch) -> { })
            .onReceiveBatch(batch -> { })
            .onError((wc, sequence, endOfBatch) -> { }));
    }

    private static void assertAllocatesNothing(final PipelineBuilder description) throws InterruptedException {
        final GatedQueue queue = new GatedQueue();
        queue.allowed = WARM_UP;
        try (Pipeline pipeline = description.queue(queue).start()) {
            awaitHandled(pipeline, WARM_UP);
            final List<Thread> threads = new ArrayList<>(pipeline.handlerThreads());
            threads.add(pipeline.pollerThread());
            final long[] least = new long[threads.size()];
            Arrays.fill(least, Long.MAX_VALUE);
            long handled = WARM_UP;
            // The JVM allocates a little on a thread when it compiles; an allocation per completion shows in every round.
            for (int round = 0; round < ROUNDS && Arrays.stream(least).anyMatch(bytes -> bytes > 0); round++) {
                final long[] before = threads.stream().mapToLong(thread -> allocated(thread)).toArray();
                handled += MEASURED;
                queue.allowed = handled;
                awaitHandled(pipeline, handled);
                for (int i = 0; i < before.length; i++) {
                    least[i] = Math.min(least[i], allocated(threads.get(i)) - before[i]);
                }
            }
            for (int i = 0; i < least.length; i++) {
                assertEquals(0, least[i], threads.get(i).getName() + " allocated");
            }
            assertEquals(handled, pipeline.pollerCounters().completions());
            assertTrue(pipeline.pollerCounters().errors() > 0);
        }
    }

    private static long allocated(final Thread thread) {
        return THREADS.getThreadAllocatedBytes(thread.threadId());
    }

    private static void awaitHandled(final Pipeline pipeline, final long count) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (pipeline.pollerCounters().completions() < count || pipeline.occupancy() > 0) {
            assertTrue(System.nanoTime() < deadlineNs, "handled only " + pipeline.pollerCounters().completions());
            Thread.sleep(1);
        }
    }

    /** Yields a limited number of completions of all paths. */
    private static final class GatedQueue implements CompletionQueue {
        private static final long[] STATUS_AND_OPCODE = {0L, 128L << 32, 5L};

        private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
        private volatile long allowed;
        private long next;

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            final int polled = (int) Math.min(maxEntries, allowed - next);
            if (polled > 0) {
                view.wrap(records.address(first, maxEntries), polled * IbvWc.SIZE_BYTES);
                for (int i = 0; i < polled; i++) {
                    view.putLong(i * IbvWc.SIZE_BYTES + IbvWc.WR_ID_OFFSET, next);
                    view.putLong(i * IbvWc.SIZE_BYTES + IbvWc.STATUS_OFFSET, STATUS_AND_OPCODE[(int) (next++ % 3)]);
                }
            }
            return polled;
        }

        @Override
        public String name() {
            return "gated";
        }
    }
}
