package io.ringpoll.pipeline;

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import com.lmax.disruptor.YieldingWaitStrategy;
import io.ringpoll.poller.EventDrivenIdle;
import java.util.Locale;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * How a thread of a pipeline waits for completions: the wait strategy of a handler, or the idle strategy of a poller.
 */
public enum WaitMode {
    /** Spins: lowest latency, occupies a core. */
    BUSY_SPIN,
    /** Spins briefly, then yields the core to other threads. */
    YIELD,
    /** Spins, yields, then sleeps for short periods: low CPU use, tens of microseconds of latency when idle. */
    SLEEP,
    /**
     * Sleeps until there is work: lowest CPU use. A handler parks until the poller signals it, which costs the poller a system
     * call; a poller waits for a completion event.
     */
    BLOCK;

    /**
     * Selects the wait for a machine: spinning everywhere requires a core for every hot thread.
     *
     * @param cores      available to the process
     * @param hotThreads threads that run at full speed simultaneously: pollers, handlers and posting threads
     * @return busy-spin if there is a core for each, otherwise yield if there are at least two cores, otherwise sleep
     */
    public static WaitMode forCores(final int cores, final int hotThreads) {
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
     * The mode as the value of an option or setting.
     *
     * @return for instance {@code busy-spin}
     */
    public String option() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /**
     * The idle strategy of a poller with this wait. {@link #BUSY_SPIN} polls again without the CPU's pause instruction, which
     * takes longer than an empty poll (28 ns on the AMD EPYC of the measurements). {@link #BLOCK} is an {@link EventDrivenIdle},
     * which needs the queues of a poller: other threads cannot use it.
     *
     * @return a strategy for one poller
     */
    public IdleStrategy newIdleStrategy() {
        return switch (this) {
            case BUSY_SPIN -> NoOpIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case SLEEP -> new BackoffIdleStrategy();
            case BLOCK -> new EventDrivenIdle();
        };
    }

    /** The wait strategy of a handler with this wait, for one handler. */
    WaitStrategy newWaitStrategy() {
        return newWaitStrategy(0);
    }

    /** The same for a handler with a time-out in nanoseconds that no park may exceed; 0 for none. */
    WaitStrategy newWaitStrategy(final long idleTimeoutNs) {
        return switch (this) {
            case BUSY_SPIN -> new BusySpinWaitStrategy();
            case YIELD -> new YieldingWaitStrategy();
            case SLEEP -> new SleepingWaitStrategy();
            case BLOCK -> idleTimeoutNs > 0 ? new ParkingWaitStrategy(idleTimeoutNs) : new ParkingWaitStrategy();
        };
    }
}
