package io.ringpoll.mutation;

/**
 * The confidence interval of a share, given a sample: Wilson's interval, which is valid near 0 and 1 and for small samples.
 *
 * @param low  the share is above, with 97.5 % confidence
 * @param high the share is below, with 97.5 % confidence
 */
record Interval(double low, double high) {
    private static final double Z = 1.96;

    /** The interval for {@code hits} of {@code tries} that were drawn with equal probability. */
    static Interval of(final long hits, final long tries) {
        if (tries == 0) {
            return new Interval(0, 1);
        }
        final double share = (double) hits / tries;
        final double square = Z * Z / tries;
        final double middle = (share + square / 2) / (1 + square);
        final double half = Z / (1 + square) * Math.sqrt(share * (1 - share) / tries + square / (4 * tries));
        return new Interval(Math.max(0, middle - half), Math.min(1, middle + half));
    }
}
