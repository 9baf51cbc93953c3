package io.ringpoll.verify.torture.processes;

/** Measures how long a process has waited for the end of its connections after a failure, or for completions after the end. */
final class Overdue {
    private final long limitNs;
    private long failedNs;
    private long overNs;

    /**
     * Begins.
     *
     * @param nowNs   the time
     * @param limitNs of each wait
     */
    Overdue(final long nowNs, final long limitNs) {
        this.limitNs = limitNs;
        failedNs = nowNs;
        overNs = nowNs;
    }

    /** Whether one of the two lasts longer than the limit; to be called again and again. */
    boolean isReached(final boolean hasFailed, final boolean isOver, final long nowNs) {
        failedNs = hasFailed ? failedNs : nowNs;
        overNs = isOver ? overNs : nowNs;
        return nowNs - Math.min(failedNs, overNs) > limitNs;
    }
}
