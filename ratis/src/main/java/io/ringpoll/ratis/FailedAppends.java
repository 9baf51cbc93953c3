package io.ringpoll.ratis;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs failed requests of an appender to a connected follower: the 1st, 2nd, 4th and so on since the last success. The engine of
 * a follower with a full disk does not log the failure: it answers heartbeats and refuses entries. Thread-safe.
 */
final class FailedAppends {
    private static final Logger LOG = LoggerFactory.getLogger(FailedAppends.class);

    private final Object appender;
    private volatile int count;
    private boolean entriesFail;

    /** Creates the count of an appender; its {@code toString} names the follower. */
    FailedAppends(final Object appender) {
        this.appender = appender;
    }

    /**
     * Counts a failure.
     *
     * @param isHeartbeat whether the request has no entries and is no snapshot
     * @param reason      of the failure
     */
    synchronized void onFailure(final boolean isHeartbeat, final Throwable reason) {
        count++;
        entriesFail |= !isHeartbeat;
        if (Integer.bitCount(count) == 1) {
            LOG.warn("{}: {} failed: {} ({} failed requests); the log and the disk of the follower may show the cause", appender,
                isHeartbeat ? "a heartbeat has" : "entries or a snapshot have", reason.toString(), count);
        }
    }

    /** Ends the count. After entries that failed, a successful heartbeat does not. */
    void onSuccess(final boolean isHeartbeat) {
        if (count > 0) {
            end(isHeartbeat);
        }
    }

    private synchronized void end(final boolean isHeartbeat) {
        // Another reply may have ended it meanwhile.
        if (count > 0 && (!isHeartbeat || !entriesFail)) {
            LOG.warn("{}: the follower accepts requests again, after {} failed ones", appender, count);
            count = 0;
            entriesFail = false;
        }
    }
}
