package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.HandlerWait;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** How threads of a hand-off wait that are not ringpoll's own: the same way. */
final class IdleStrategies {
    private IdleStrategies() {
    }

    static IdleStrategy of(final HandlerWait wait) {
        return switch (wait) {
            case BUSY_SPIN -> BusySpinIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case SLEEP, BLOCK -> new BackoffIdleStrategy();
        };
    }
}
