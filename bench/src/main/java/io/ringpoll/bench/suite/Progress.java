package io.ringpoll.bench.suite;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Prints the expected duration before a run, and at each step the remaining time: the expected time of the remaining steps,
 * scaled by the speed of the finished ones.
 *
 * <p>Used by one thread.
 */
final class Progress {
    /** The expectation has the weight of half a minute of measured time: the first steps alone do not dominate. */
    private static final double TRUST_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long MINUTES_FROM_NS = TimeUnit.SECONDS.toNanos(90);

    private final PrintWriter out;
    private final RunPlan plan;
    private int step;
    /** The expected time of the present step, and of the finished ones. */
    private long presentNs;
    private long doneNs;

    Progress(final PrintWriter out, final RunPlan plan) {
        this.out = out;
        this.plan = plan;
    }

    /** Prints the expected total. */
    void begin() {
        out.printf("%d steps, %s%n", plan.steps(), about(plan.expectedNs()));
        out.flush();
    }

    /**
     * Prints the next step.
     *
     * @param title      name of the step
     * @param elapsedNs  time since the start of the run
     * @param expectedNs time of the step on an idle machine
     */
    void next(final String title, final long elapsedNs, final long expectedNs) {
        doneNs += presentNs;
        presentNs = expectedNs;
        step++;
        out.printf("[%d/%d, %d s, %s left] %s%n", step, plan.steps(), TimeUnit.NANOSECONDS.toSeconds(elapsedNs),
            about(leftNs(elapsedNs)), title);
        out.flush();
    }

    private long leftNs(final long elapsedNs) {
        return (long) ((plan.expectedNs() - doneNs) * (TRUST_NS + elapsedNs) / (TRUST_NS + doneNs));
    }

    private static String about(final long lengthNs) {
        return lengthNs >= MINUTES_FROM_NS ?
            String.format(Locale.ROOT, "about %d minutes", Math.round(lengthNs / (double) TimeUnit.MINUTES.toNanos(1))) :
            String.format(Locale.ROOT, "about %d s", Math.round(lengthNs / (double) TimeUnit.SECONDS.toNanos(1)));
    }
}
