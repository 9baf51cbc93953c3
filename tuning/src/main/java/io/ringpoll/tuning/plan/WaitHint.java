package io.ringpoll.tuning.plan;

/** The recommended wait of a thread on its CPU. */
public enum WaitHint {
    /** Occupies the CPU: only for a thread with a CPU of its own. */
    BUSY_SPIN("busy-spin"),
    /** Spins, then yields: for hot threads that share a CPU. */
    YIELD("yield"),
    /** Spins briefly, then sleeps for short periods: where CPU time is limited by a quota. */
    SLEEP("sleep");

    private final String option;

    WaitHint(final String option) {
        this.option = option;
    }

    /**
     * The hint as an option value.
     *
     * @return for instance {@code busy-spin}
     */
    public String option() {
        return option;
    }

    @Override
    public String toString() {
        return option;
    }
}
