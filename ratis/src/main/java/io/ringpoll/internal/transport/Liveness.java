package io.ringpoll.internal.transport;

import java.util.concurrent.TimeUnit;

/**
 * Decides by the silence of a peer when to ping it and when it is lost. Frames of any kind end the silence. After an interval the
 * peer is sent one ping, which its handler's thread answers at any load; after the time-out it is considered lost.
 *
 * <p>The silence is summed up over the ticks of this side, and a late tick counts as a short one: a pause of this process is not
 * the silence of its peers.
 *
 * <p>Guarded by the lock of the link.
 */
final class Liveness {
    /** Several times the period of the ticks. */
    static final long MAX_STEP_NS = TimeUnit.MILLISECONDS.toNanos(250);

    private final long intervalNs;
    private final long timeoutNs;
    private long tickNs;
    private long silentNs;
    private boolean heard;
    private boolean pinged;
    /** Whether a ping has been due in this silence: no peer is lost before, however short the time-out is. */
    private boolean asked;

    /** The result of a tick. */
    enum Verdict {
        /** Nothing to do. */
        ALIVE,
        /** A ping is due. */
        PING,
        /** The connection ends. */
        LOST
    }

    Liveness(final PeerBounds bounds, final long nowNs) {
        intervalNs = TimeUnit.MILLISECONDS.toNanos(bounds.keepaliveIntervalMs());
        timeoutNs = TimeUnit.MILLISECONDS.toNanos(bounds.keepaliveTimeoutMs());
        tickNs = nowNs;
    }

    /** Records a frame of the peer. */
    void onFrame(final byte kind) {
        heard = true;
        if (kind == FrameKind.PONG) {
            pinged = false;
        }
    }

    /** Records a posted ping: there is no other one before its answer. */
    void onPing() {
        pinged = true;
    }

    /** Adds the time since the previous tick. */
    Verdict tick(final long nowNs) {
        final long stepNs = Math.min(nowNs - tickNs, MAX_STEP_NS);
        tickNs = nowNs;
        if (heard) {
            heard = false;
            asked = false;
            silentNs = 0;
            return Verdict.ALIVE;
        }
        silentNs += stepNs;
        if (silentNs >= timeoutNs && asked) {
            return Verdict.LOST;
        }
        asked |= silentNs >= intervalNs;
        return asked && !pinged ? Verdict.PING : Verdict.ALIVE;
    }
}
