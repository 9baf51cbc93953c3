package io.ringpoll.ratis.transport;

import io.ringpoll.poller.EventDrivenIdle;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/** What a poller does while nothing comes. */
public enum PollerIdle {
    /** Spins for a time, then sleeps until a completion wakes it. */
    EVENT_DRIVEN,
    /** Spins, yields and then parks, longer each time. */
    BACKOFF,
    /** Gives its core to whoever else wants it. */
    YIELD,
    /** Keeps its core. */
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
