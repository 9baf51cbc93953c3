package io.ringpoll.internal.transport;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import org.agrona.concurrent.IdleStrategy;

/** The idle strategy of a poller: event-driven, or that of a {@link WaitMode}. */
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
            case BACKOFF -> WaitMode.SLEEP.newIdleStrategy();
            case YIELD -> WaitMode.YIELD.newIdleStrategy();
            case BUSY_SPIN -> WaitMode.BUSY_SPIN.newIdleStrategy();
        };
    }
}
