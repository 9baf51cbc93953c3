package io.ringpoll.bench.measure;

import java.util.Locale;

/**
 * A goal: one figure of one result is to be at most a bound.
 *
 * @param result   name of the result
 * @param baseline label of its baseline
 * @param figure   the figure
 * @param atMost   the bound
 */
public record Goal(String result, String baseline, Figure figure, double atMost) {
    private static final String REPLICATION = "replicate/ringpoll/";
    private static final String OVER_VERBS = "^replicate/ringpoll,api=verbs/";

    /** The figure of a result that a goal bounds. */
    public enum Figure {
        /** Our cost divided by the baseline's. */
        RATIO("%.3f", ""),
        /** Our cost less the baseline's. */
        EXCESS_NS("%+.2f", " ns"),
        /** Our bytes. */
        BYTES("%.1f", " B");

        private final String format;
        private final String unit;

        Figure(final String format, final String unit) {
            this.format = format;
            this.unit = unit;
        }

        private Estimate of(final BenchResult result) {
            return this == RATIO ? new Estimate(result.ratio(), result.interval()) : result.excess();
        }
    }

    /**
     * Whether the goal is about a result. A goal of the replication is about both bindings: Netty is the same beside each.
     *
     * @param other a result
     * @return true if it has the name, or that name over verbs, and the baseline
     */
    public boolean isAbout(final BenchResult other) {
        return other.name().replaceFirst(OVER_VERBS, REPLICATION).equals(result) && other.baselineName().equals(baseline);
    }

    /**
     * The verdict about a result.
     *
     * @param measured the result that the goal {@link #isAbout}
     * @return by the interval of the figure
     */
    public Verdict verdict(final BenchResult measured) {
        return Verdict.of(figure.of(measured).interval(), atMost);
    }

    /**
     * The figure of a result.
     *
     * @param measured the result that the goal {@link #isAbout}
     * @return with unit and interval
     */
    public String figureText(final BenchResult measured) {
        return figure.of(measured).text(figure.format) + figure.unit;
    }

    /**
     * The bound.
     *
     * @return for instance {@code "<= 1.03"}
     */
    public String bound() {
        return switch (figure) {
            case RATIO -> String.format(Locale.ROOT, "<= %.2f", atMost);
            case EXCESS_NS -> String.format(Locale.ROOT, "<= %+.2f ns", atMost);
            case BYTES -> String.format(Locale.ROOT, "<= %.0f B", atMost);
        };
    }
}
