package io.ringpoll.bench.measure;

/** The statement that repeated runs allow about our cost beside a baseline's. */
public enum Difference {
    /** Ours is lower: the whole interval of the ratio is below 1. */
    LOWER("lower"),
    /** Ours is higher: the whole interval of the ratio is above 1. */
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
        if (!ratio.isKnown()) {
            return TOO_FEW_RUNS;
        }
        if (ratio.contains(1)) {
            return NOT_SHOWN;
        }
        return ratio.low() > 1 ? HIGHER : LOWER;
    }

    @Override
    public String toString() {
        return text;
    }
}
