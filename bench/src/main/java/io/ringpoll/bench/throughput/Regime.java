package io.ringpoll.bench.throughput;

import java.util.Locale;

/**
 * The lag of the handlers in saturation. The cost of a completion depends on it as much as on the code, because close behind the
 * poller every cache line is transferred from its core.
 */
public enum Regime {
    /** Less than a quarter of the ring is waiting to be handled. */
    CLOSE,
    /** Between the two. */
    MIXED,
    /** More than half of the ring is waiting to be handled: the poller waits for the handlers. */
    TRAILING;

    private static final double CLOSE_SHARE = 0.25;
    private static final double TRAILING_SHARE = 0.5;

    static Regime of(final double occupiedShare) {
        if (occupiedShare < CLOSE_SHARE) {
            return CLOSE;
        }
        return occupiedShare > TRAILING_SHARE ? TRAILING : MIXED;
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
