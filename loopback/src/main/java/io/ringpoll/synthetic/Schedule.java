package io.ringpoll.synthetic;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * When completions are due: times within a period that repeats itself.
 *
 * <p>Not changed once it is made.
 */
public final class Schedule {
    /** The most completions that a period may have. */
    public static final int MAX_LENGTH = 1 << 16;

    private static final long SECOND_NS = TimeUnit.SECONDS.toNanos(1);
    private static final Schedule SATURATION = new Schedule(0, new long[0]);

    private final long periodNs;
    private final long[] dueNs;

    private Schedule(final long periodNs, final long[] dueNs) {
        this.periodNs = periodNs;
        this.dueNs = dueNs;
    }

    /**
     * No times: completions are there whenever they are asked for.
     *
     * @return the schedule
     */
    public static Schedule saturation() {
        return SATURATION;
    }

    /**
     * Completions at even distances.
     *
     * @param perSecond completions in a second, 1 to 1,000,000,000
     * @return a schedule with an exact rate, or one that is off by less than one in a billion
     */
    public static Schedule rate(final long perSecond) {
        return bursts(perSecond, 1);
    }

    /**
     * Bursts of completions at even distances.
     *
     * @param perSecond completions in a second, 1 to 1,000,000,000
     * @param burst     completions per burst, 1 to {@link #MAX_LENGTH}
     * @return the schedule
     */
    public static Schedule bursts(final long perSecond, final int burst) {
        checkRate(perSecond);
        if (burst < 1 || burst > MAX_LENGTH) {
            throw new IllegalArgumentException("a burst of " + burst + " completions is not from 1 to " + MAX_LENGTH);
        }
        // The shortest period of whole bursts that is a whole number of nanoseconds, if it is short enough.
        final long perGcd = perSecond / gcd(perSecond, SECOND_NS);
        final long exact = perGcd / gcd(perGcd, burst) * burst;
        final int length = (int) (exact <= MAX_LENGTH ? exact : MAX_LENGTH / burst * burst);
        final long[] dueNs = new long[length];
        for (int i = 0; i < length; i++) {
            dueNs[i] = timeOf(i / burst * burst, perSecond);
        }
        return new Schedule(timeOf(length, perSecond), dueNs);
    }

    /**
     * Completions at random, each independent of the others (a Poisson process), the same again each period.
     *
     * @param perSecond completions in a second on average, 1 to 1,000,000,000
     * @param seed      of the randomness
     * @return the schedule
     */
    public static Schedule random(final long perSecond, final long seed) {
        checkRate(perSecond);
        final long periodNs = timeOf(MAX_LENGTH, perSecond);
        // Uniform times of a fixed number of events are a Poisson process, given that number.
        return new Schedule(periodNs, new Random(seed).longs(MAX_LENGTH, 0, periodNs).sorted().toArray());
    }

    /**
     * Whether completions need not wait for any time.
     *
     * @return true for {@link #saturation()}
     */
    public boolean isSaturation() {
        return periodNs == 0;
    }

    /**
     * The period after which the schedule repeats.
     *
     * @return nanoseconds; 0 for saturation
     */
    public long periodNs() {
        return periodNs;
    }

    /**
     * The times of a period.
     *
     * @return nanoseconds from its start, ascending; a copy
     */
    public long[] dueNs() {
        return dueNs.clone();
    }

    /**
     * Completions that are due in a time from the start on.
     *
     * @param durationNs the time
     * @return how many
     * @throws IllegalStateException    if this is saturation, which has no times
     * @throws IllegalArgumentException if the time is negative
     */
    public long dueWithin(final long durationNs) {
        if (isSaturation()) {
            throw new IllegalStateException("in saturation nothing is due at a time");
        }
        if (durationNs < 0) {
            throw new IllegalArgumentException("the time durationNs " + durationNs + " is negative");
        }
        final long periods = durationNs / periodNs;
        final long rest = durationNs % periodNs;
        return periods * dueNs.length + Arrays.stream(dueNs).filter(due -> due < rest).count();
    }

    private static void checkRate(final long perSecond) {
        if (perSecond < 1 || perSecond > SECOND_NS) {
            throw new IllegalArgumentException("a rate of " + perSecond + " per second is not from 1 to " + SECOND_NS);
        }
    }

    private static long gcd(final long a, final long b) {
        return BigInteger.valueOf(a).gcd(BigInteger.valueOf(b)).longValue();
    }

    private static long timeOf(final long index, final long perSecond) {
        return index * SECOND_NS / perSecond;
    }
}
