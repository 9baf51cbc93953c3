package io.ringpoll.internal.poller;

/**
 * Work of a layer above the poller that is due at certain times, on the polling thread between two rounds.
 *
 * <p>Belongs to the polling thread, which looks at the clock only while work is pending: every few duty cycles, after each one
 * without work unless the thread spins, and before a sleep, which ends in time.
 */
public interface TimedWork {
    /** No work at any time. */
    TimedWork NONE = new TimedWork() {
        @Override
        public boolean isPending() {
            return false;
        }

        @Override
        public long leftNs(final long nowNs) {
            return Long.MAX_VALUE;
        }

        @Override
        public void run(final long nowNs) {
            // Nothing is due.
        }
    };

    /**
     * Whether there is work for any time.
     *
     * @return false if the clock need not be read
     */
    boolean isPending();

    /**
     * Time until the first work is due, if any is pending.
     *
     * @param nowNs as of {@link System#nanoTime()}
     * @return in nanoseconds; 0 or less if it is due
     */
    long leftNs(long nowNs);

    /**
     * Does the work that is due. Throws nothing.
     *
     * @param nowNs as of {@link System#nanoTime()}
     */
    void run(long nowNs);
}
