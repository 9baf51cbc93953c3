package io.ringpoll.ratis.transport;

import io.ringpoll.poller.EventDrivenIdle;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** The idle strategy of a poller. */
public enum PollerIdle {
    /** Spins for a time, then sleeps until a completion event. */
    EVENT_DRIVEN,
    /** Spins, yields, then parks for increasing periods. */
    BACKOFF,
    /** Yields the core to other threads. */
    YIELD,
    /** Spins and occupies the core. */
    BUSY_SPIN;

    IdleStrategy newStrategy(final long spinNs) {
        return switch (this) {
            case EVENT_DRIVEN -> new EventDrivenIdle(spinNs, EventDrivenIdle.DEFAULT_MAX_SLEEP_NS);
            case BACKOFF -> new BackoffIdleStrategy();
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            case BUSY_SPIN -> NoOpIdleStrategy.INSTANCE;
        };
    }
}
