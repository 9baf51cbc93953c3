package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.counters.CountersSnapshot;
import io.ringpoll.poller.ScriptedQueue;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final long WARM_UP = 2_000_000;
    private static final long MEASURED = 10_000_000;
    /** While the threads have a part of their CPUs only. */
    private static final long MEASURED_SLOWLY = 1_000_000;
    private static final int ROUNDS = 5;
    /** The JVM itself may allocate a little. */
    private static final long MOST_BYTES_OF_A_FAULT = 16 * 1024;

    @Test
    void shouldAllocateNothingOverTenMillionCompletions() throws InterruptedException {
        assertAllocatesNothing(Pipeline.builder()
            .ringSize(4096)
            .onSendWrite((wc, sequence, endOfBatch) -> { }, options -> options.maxHeld(8))
            .onReceiveBatch(batch -> { })
            .then((wc, sequence, endOfBatch) -> { }, options -> options.waitStrategy(WaitMode.BLOCK))
            .onError((wc, sequence, endOfBatch) -> { }), MEASURED, pipeline -> { });
    }

    @Test
    void shouldAllocateNothingWhileOtherThreadsHaveItsCpusAndTheCountersAreRead() throws InterruptedException {
        final List<Thread> others = new ArrayList<>();
        try {
            for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
                others.add(Thread.ofPlatform().daemon().start(() -> {
                    while (!Thread.currentThread().isInterrupted()) {
                        Thread.onSpinWait();
                    }
                }));
            }
            assertAllocatesNothing(Pipeline.builder().cores(1, 1)
                .onSendWrite((wc, sequence, endOfBatch) -> { })
                .onReceive((wc, sequence, endOfBatch) -> { }, options -> options.waitStrategy(WaitMode.BLOCK))
                .onError((wc, sequence, endOfBatch) -> { }), MEASURED_SLOWLY,
                // As ringpoll stat does.
                pipeline -> assertFalse(CountersSnapshot.read(pipeline.countersFile()).counters().isEmpty()));
        } finally {
            others.forEach(Thread::interrupt);
        }
    }

    @Test
    void shouldAllocateNothingWhenHandlersRunOnThePollingThread() throws InterruptedException {
        assertAllocatesNothing(Pipeline.builder()
            .runToCompletion()
            .onSendWrite((wc, sequence, endOfBatch) -> { })
            .onReceiveBatch(batch -> { })
            .onError((wc, sequence, endOfBatch) -> { }), MEASURED, pipeline -> { });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldNotAllocateForEachSlotAtTheFirstQueueFault(final boolean runsToCompletion) {
        final int slots = 1 << 20;
        // The first pipeline loads classes.
        allocatedByAFault(slots, runsToCompletion);
        final long bytes = allocatedByAFault(slots, runsToCompletion);
        assertTrue(bytes < MOST_BYTES_OF_A_FAULT, bytes + " bytes");
    }

    /** The bytes that the polling thread, which is the thread of the test, allocates in the duty cycle of a queue fault. */
    private static long allocatedByAFault(final int slots, final boolean runsToCompletion) {
        final ScriptedQueue queue = new ScriptedQueue("failed");
        final PipelineBuilder description = Pipeline.builder().withoutCountersFile().asAgent().ringSize(slots)
            // Of which the ring of run to completion has a multiple.
            .batchLimit(slots / 4).queue(queue).onAll((wc, sequence, endOfBatch) -> { });
        try (Pipeline pipeline = (runsToCompletion ? description.runToCompletion() : description).start()) {
            final AgentInvoker invoker = new AgentInvoker(error -> { }, null, pipeline.agent());
            invoker.start();
            invoker.invoke();
            queue.failWith(-1);
            final long before = allocated(Thread.currentThread());
            assertEquals(1, invoker.invoke());
            return allocated(Thread.currentThread()) - before;
        }
    }

    /** Runs an action again and again on the thread of the test while completions are handled. */
    private static void assertAllocatesNothing(
        final PipelineBuilder description, final long measured, final Consumer<Pipeline> meanwhile) throws InterruptedException {
        final GatedQueue queue = new GatedQueue();
        queue.allowed = WARM_UP;
        try (Pipeline pipeline = description.queue(queue).start()) {
            awaitHandled(pipeline, WARM_UP, meanwhile);
            final List<Thread> threads = new ArrayList<>(pipeline.handlerThreads());
            threads.add(pipeline.pollerThread());
            final long[] least = new long[threads.size()];
            Arrays.fill(least, Long.MAX_VALUE);
            long handled = WARM_UP;
            // The JVM allocates a little on a thread when it compiles; an allocation per completion shows in every round.
            for (int round = 0; round < ROUNDS && Arrays.stream(least).anyMatch(bytes -> bytes > 0); round++) {
                final long[] before = threads.stream().mapToLong(thread -> allocated(thread)).toArray();
                handled += measured;
                queue.allowed = handled;
                awaitHandled(pipeline, handled, meanwhile);
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

    private static void awaitHandled(final Pipeline pipeline, final long count, final Consumer<Pipeline> meanwhile)
        throws InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (pipeline.pollerCounters().completions() < count || pipeline.occupancy() > 0) {
            assertTrue(System.nanoTime() < deadlineNs, "handled only " + pipeline.pollerCounters().completions());
            meanwhile.accept(pipeline);
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
