package io.ringpoll.bench.idle;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import org.agrona.concurrent.IdleStrategy;

/** The compared idle strategies. */
enum Idling {
    /** Never leaves the core. */
    BUSY_SPIN("busy-spin"),
    /** Agrona's back-off, with its defaults. */
    SPIN_YIELD_PARK("spin-yield-park"),
    /** Sleeps on the completion channel. */
    EVENT_DRIVEN("event-driven");

    private final String text;

    Idling(final String text) {
        this.text = text;
    }

    String text() {
        return text;
    }

    IdleStrategy strategy() {
        return switch (this) {
            case BUSY_SPIN -> WaitMode.BUSY_SPIN.newIdleStrategy();
            case SPIN_YIELD_PARK -> WaitMode.SLEEP.newIdleStrategy();
            case EVENT_DRIVEN -> new EventDrivenIdle();
        };
    }
}
