package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.WaitMode;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** The idle strategies of the threads of a hand-off: the same in all hand-offs. */
public final class IdleStrategies {
    private IdleStrategies() {
    }

    /**
     * The idle strategy of a polling thread, in all hand-offs. The polled queues raise no events: {@link WaitMode#BLOCK} is
     * {@link WaitMode#SLEEP}.
     *
     * @param wait the wait of the handlers
     * @return the matching idle strategy; for spinning, one that polls again immediately
     */
    public static IdleStrategy ofPoller(final WaitMode wait) {
        return (wait == WaitMode.BLOCK ? WaitMode.SLEEP : wait).newIdleStrategy();
    }

    /** The idle strategy of a thread that waits for its neighbour; for spinning, with the {@code pause} instruction. */
    static IdleStrategy of(final WaitMode wait) {
        return switch (wait) {
            case BUSY_SPIN -> BusySpinIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case SLEEP, BLOCK -> new BackoffIdleStrategy();
        };
    }
}
