package io.ringpoll.bench.routing;

/** The ways that are compared. */
enum Mode {
    /** Each handler sees all and skips. */
    SKIP("every handler sees all and skips"),
    /** An index a path. */
    INDEX("routed: an index per path"),
    /** A ring a path. */
    RING_PER_PATH("routed: a ring per path, copied");

    private final String text;

    Mode(final String text) {
        this.text = text;
    }

    /** What it is, for people. */
    String text() {
        return text;
    }

    Exchange exchange(final int batchLimit) {
        return switch (this) {
            case SKIP -> new SkippingRing();
            case INDEX -> new IndexedRing();
            case RING_PER_PATH -> new RingPerPath(batchLimit);
        };
    }
}
