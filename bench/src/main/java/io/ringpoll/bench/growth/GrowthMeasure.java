package io.ringpoll.bench.growth;

/** The measured quantity of a point. */
enum GrowthMeasure {
    /** Nanoseconds of elapsed time for each completion, while the busy queues are saturated. */
    COST("", "ns a completion"),
    /**
     * Median time from a completion's due time until its handler is called, at a moderate rate: the time until the queue is
     * polled, half of a round if the poller does nothing else, and the hand-off.
     */
    DELAY("/delay-p50", "ns from due time to handler, median");

    private final String suffix;
    private final String title;

    GrowthMeasure(final String suffix, final String title) {
        this.suffix = suffix;
        this.title = title;
    }

    /** The end of the names of its results. */
    String suffix() {
        return suffix;
    }

    /** Its description for tables and plots. */
    String title() {
        return title;
    }
}
