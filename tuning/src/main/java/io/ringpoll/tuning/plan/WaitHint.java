package io.ringpoll.tuning.plan;

/** How a thread should wait for work, given what CPU it has. */
public enum WaitHint {
    /** Never gives up its CPU: only for a thread that has one to itself. */
    BUSY_SPIN("busy-spin"),
    /** Spins, then lets the other threads of its CPU run: for hot threads that share one. */
    YIELD("yield"),
    /** Spins a little, then sleeps for moments: where CPU time is rationed. */
    SLEEP("sleep");

    private final String option;

    WaitHint(final String option) {
        this.option = option;
    }

    /**
     * The hint as it is written in options.
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
