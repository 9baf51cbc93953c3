package io.ringpoll.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;

/** Counts the heap bytes that the calling thread allocates, as the JVM itself counts them. */
public final class Allocation {
    private static final int WARM_UP_ROUNDS = 20;
    private static final int MEASURED_ROUNDS = 5;
    private static final int ITERATIONS = 2_000;
    /** In which the JVM's compiler gets a CPU also on a busy machine. */
    private static final long COMPILATION_NS = TimeUnit.SECONDS.toNanos(20);

    private Allocation() {
    }

    /**
     * Fails if an action allocates after warm-up. The JVM itself may allocate a little in one round, when it compiles or
     * specialises; an allocation of the action shows in every round. Allocations that end when C2 has compiled the action do not
     * count, however late that is.
     */
    public static void assertNone(final Runnable action) {
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean, "this JVM does not count allocated bytes");
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        for (int round = 0; round < WARM_UP_ROUNDS; round++) {
            repeat(action);
        }
        final long startNs = System.nanoTime();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < MEASURED_ROUNDS || least > 0 && System.nanoTime() - startNs < COMPILATION_NS; round++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            repeat(action);
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least, "bytes allocated in " + ITERATIONS + " iterations");
    }

    private static void repeat(final Runnable action) {
        for (int i = 0; i < ITERATIONS; i++) {
            action.run();
        }
    }
}
