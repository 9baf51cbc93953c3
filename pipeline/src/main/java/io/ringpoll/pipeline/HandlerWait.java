package io.ringpoll.pipeline;

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * The predefined ways in which a handler's thread waits for completions.
 */
public enum HandlerWait {
    /** Spins: lowest latency, occupies a core. */
    BUSY_SPIN,
    /** Spins briefly, then yields the core to other threads. */
    YIELD,
    /** Spins, yields, then sleeps for short periods: low CPU use, tens of microseconds of latency when idle. */
    SLEEP,
    /** Parks until it is signalled: lowest CPU use, and the poller pays for the wake-up. */
    BLOCK;

    /**
     * Selects the wait for a machine: spinning everywhere requires a core for every hot thread.
     *
     * @param cores      available to the process
     * @param hotThreads threads that run at full speed simultaneously: pollers, handlers and posting threads
     * @return busy-spin if there is a core for each, otherwise yield if there are at least two cores, otherwise sleep
     */
    public static HandlerWait forCores(final int cores, final int hotThreads) {
        if (cores >= hotThreads) {
            return BUSY_SPIN;
        }
        return cores > 1 ? YIELD : SLEEP;
    }

    /** Whether the wait strategy needs a signal at publication. */
    boolean isSignalled() {
        return this == BLOCK;
    }

    /**
     * The idle strategy of a poller on a machine with this wait. A spinning poller polls again without the CPU's pause
     * instruction, which takes longer than an empty poll (28 ns on the AMD EPYC of the measurements).
     */
    IdleStrategy newIdleStrategy() {
        return switch (this) {
            case BUSY_SPIN -> NoOpIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case SLEEP, BLOCK -> new BackoffIdleStrategy();
        };
    }

    WaitStrategy newStrategy() {
        return switch (this) {
            case BUSY_SPIN -> new BusySpinWaitStrategy();
            case YIELD -> new YieldingWaitStrategy();
            case SLEEP -> new SleepingWaitStrategy();
            case BLOCK -> new ParkingWaitStrategy();
        };
    }
}
