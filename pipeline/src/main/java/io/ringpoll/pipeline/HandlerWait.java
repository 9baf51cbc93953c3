package io.ringpoll.pipeline;

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * How a handler's thread waits for the next completion.
 */
public enum HandlerWait {
    /** Spins; lowest latency, and a core of its own. */
    BUSY_SPIN,
    /** Spins a little, then yields to whoever else wants the core. */
    YIELD,
    /** Spins, yields, then sleeps for moments; light on the core, tens of microseconds of latency when idle. */
    SLEEP,
    /** Parks until it is woken; lightest on the core, and the poller pays for the wake-up. */
    BLOCK;

    /**
     * The wait that fits a machine: spinning everywhere is right only where every hot thread can have a core.
     *
     * @param cores      available to the process
     * @param hotThreads that run at full speed at the same time: poller, handlers and those who post
     * @return busy-spin if there is a core for each, else yield if there are two cores at least, else sleep
     */
    public static HandlerWait forCores(final int cores, final int hotThreads) {
        if (cores >= hotThreads) {
            return BUSY_SPIN;
        }
        return cores > 1 ? YIELD : SLEEP;
    }

    /** Whether those it waits for must signal. */
    boolean isSignalled() {
        return this == BLOCK;
    }

    /**
     * What a poller does on a machine for which this is the handlers' wait. One that spins polls again at once: an empty poll is
     * work enough, and the CPU's pause instruction takes longer than it (28 ns on the AMD EPYC it was measured on).
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
            case SLEEP -> new SleepingWait();
            case BLOCK -> new ParkingWait();
        };
    }
}
