package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.HandlerWait;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** How threads of a hand-off wait: the same way in all. */
public final class IdleStrategies {
    private IdleStrategies() {
    }

    /**
     * How a thread waits that polls a completion queue, of ours and of others: to spin, it polls again at once.
     *
     * @param wait of the handlers
     * @return the strategy in keeping with it
     */
    public static IdleStrategy ofPoller(final HandlerWait wait) {
        return wait == HandlerWait.BUSY_SPIN ? NoOpIdleStrategy.INSTANCE : of(wait);
    }

    static IdleStrategy of(final HandlerWait wait) {
        return switch (wait) {
            case BUSY_SPIN -> BusySpinIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case SLEEP, BLOCK -> new BackoffIdleStrategy();
        };
    }
}
