package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.WaitMode;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** How threads of a hand-off wait: the same way in all. */
public final class IdleStrategies {
    private IdleStrategies() {
    }

    /**
     * The idle strategy of a poller, the pipeline's or that of a comparison: a spinning poller executes no pause instruction.
     *
     * @param wait of the handlers
     * @return the strategy in keeping with it
     */
    public static IdleStrategy ofPoller(final WaitMode wait) {
        return wait.newIdleStrategy();
    }

    static IdleStrategy of(final WaitMode wait) {
        return switch (wait) {
            case BUSY_SPIN -> BusySpinIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case SLEEP, BLOCK -> new BackoffIdleStrategy();
        };
    }
}
