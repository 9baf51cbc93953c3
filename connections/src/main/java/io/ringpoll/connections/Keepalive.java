package io.ringpoll.connections;

/**
 * Detects the loss of the silent peer of one connection: a reliable connection without a request under way gets no
 * error when the peer loses its power or its cable.
 *
 * <p>The thread of connection events checks the connection from time to time, and its polling thread posts a write of nothing
 * after a silence. If the peer's device does not acknowledge it, the device of this side reports an error; the connection ends
 * earlier if that takes two more times of the silence. Such a time counts only if the polling thread has polled in it, which it
 * does not while its pipeline is paused. They are counted again from the beginning when anything else has been acknowledged or
 * received, as a keepalive completes after the operations that were posted before it.
 */
final class Keepalive implements Runnable {
    /** Times of silence after which an unacknowledged keepalive ends the connection. */
    private static final int SILENCES = 2;

    private final MessageConnection connection;
    /** Event thread, as the next. */
    private long seen;
    private long sinceNs;
    /** Whether the polling thread has yet to execute this task. */
    private volatile boolean asked;
    /** Polling thread, as the next. */
    private boolean underWay;
    private int silences;
    /** Polls of the polling thread, and the connection's progress, when the keepalive was posted or the last silence counted. */
    private long countedPolls;
    private long countedProgress;

    Keepalive(final MessageConnection connection) {
        this.connection = connection;
    }

    /** Asks the polling thread for a keepalive after a silence; event thread. */
    void check(final long nowNs, final long silenceNs) {
        final long progress = connection.progress();
        if (progress != seen) {
            seen = progress;
            sinceNs = nowNs;
        } else if (nowNs - sinceNs >= silenceNs && !asked) {
            sinceNs = nowNs;
            asked = true;
            connection.poller().execute(this);
        }
    }

    /** Posts a keepalive, or counts another silence of the one under way; polling thread. */
    @Override
    public void run() {
        asked = false;
        // After the end of the poller its counters are gone.
        if (!connection.isOpen() || connection.poller().hasEnded()) {
            return;
        }
        final long polls = connection.poller().polls();
        final long progress = connection.progress();
        if (!underWay) {
            silences = 0;
            underWay = connection.postKeepalive();
        } else if (progress != countedProgress) {
            silences = 0;
        } else if (polls == countedPolls) {
            // Its completion may wait in the queue.
            return;
        } else if (++silences == SILENCES) {
            connection.requestEnd(DisconnectReason.PEER_LOST, "its device has not acknowledged a keepalive");
        }
        countedPolls = polls;
        countedProgress = progress;
    }

    /** The peer's device has acknowledged the keepalive; polling thread. */
    void onCompleted() {
        underWay = false;
    }
}
