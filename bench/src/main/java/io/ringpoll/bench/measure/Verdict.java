package io.ringpoll.bench.measure;

/** The statement that repeated runs allow about a goal. */
public enum Verdict {
    /** The whole interval is within the goal. */
    MET("met"),
    /** The whole interval is outside the goal. */
    MISSED("missed"),
    /** The end of the goal is inside the interval, or there are fewer than {@value Interval#FEWEST_RUNS} runs. */
    NOT_SHOWN("not shown");

    private final String text;

    Verdict(final String text) {
        this.text = text;
    }

    /** The verdict about a figure that is to be at most a bound. */
    static Verdict of(final Interval figure, final double atMost) {
        if (!figure.isKnown()) {
            return NOT_SHOWN;
        }
        return figure.high() <= atMost ? MET : figure.low() > atMost ? MISSED : NOT_SHOWN;
    }

    @Override
    public String toString() {
        return text;
    }
}
