package io.ringpoll.bench.measure;

/** The statement that repeated runs allow about two costs: ours and a baseline's, or before and after a change. */
public enum Difference {
    /** The first is lower: the whole interval of the ratio is below 1. */
    LOWER("lower"),
    /** The first is higher: the whole interval of the ratio is above 1. */
    HIGHER("higher"),
    /** The interval contains 1. */
    NOT_SHOWN("no difference shown"),
    /** There are fewer than {@value Interval#FEWEST_RUNS} runs. */
    TOO_FEW_RUNS("too few runs");

    private final String text;

    Difference(final String text) {
        this.text = text;
    }

    /** The difference that the interval of a ratio shows. */
    static Difference of(final Interval ratio) {
        return beside(1, ratio);
    }

    /**
     * The difference that the interval of a subtraction shows.
     *
     * @param excess interval of one cost less another
     * @return {@link #NOT_SHOWN} if it contains 0
     */
    public static Difference ofExcess(final Interval excess) {
        return beside(0, excess);
    }

    private static Difference beside(final double equal, final Interval interval) {
        if (!interval.isKnown()) {
            return TOO_FEW_RUNS;
        }
        if (interval.contains(equal)) {
            return NOT_SHOWN;
        }
        return interval.low() > equal ? HIGHER : LOWER;
    }

    @Override
    public String toString() {
        return text;
    }
}
