package io.ringpoll.bench.suite;

import java.io.PrintWriter;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/**
 * Says before a run how long it will take, and at each step how much is left: what was expected of the steps to come, at the
 * pace of those that are done.
 *
 * <p>Used by one thread.
 */
final class Progress {
    /** The expectation weighs as much as half a minute of what has been seen: the first steps alone do not decide. */
    private static final double TRUST_NS = TimeUnit.SECONDS.toNanos(30);
    private static final long MINUTES_FROM_NS = TimeUnit.SECONDS.toNanos(90);

    private final PrintWriter out;
    private final RunPlan plan;
    private int step;
    /** What was expected of the present step, and of those that are done. */
    private long presentNs;
    private long doneNs;

    Progress(final PrintWriter out, final RunPlan plan) {
        this.out = out;
        this.plan = plan;
    }

    /** Says how much is to come. */
    void begin() {
        out.printf("%d steps, %s%n", plan.steps(), about(plan.expectedNs()));
        out.flush();
    }

    /**
     * Says what is measured next.
     *
     * @param what       it is
     * @param elapsedNs  since the run began
     * @param expectedNs how long it takes on a machine that does nothing else
     */
    void next(final String what, final long elapsedNs, final long expectedNs) {
        doneNs += presentNs;
        presentNs = expectedNs;
        step++;
        out.printf("[%d/%d, %d s, %s left] %s%n", step, plan.steps(), TimeUnit.NANOSECONDS.toSeconds(elapsedNs),
            about(leftNs(elapsedNs)), what);
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
