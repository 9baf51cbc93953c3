package io.ringpoll.internal.transport;

import java.util.LinkedHashSet;
import java.util.concurrent.TimeUnit;

/**
 * The requests of one peer, from their delivery until their replies have been posted, and read if they are long. The credit of a
 * request returns when the engine has taken the request, and when the unanswered ones, with the memory of the replies, are below
 * the bounds of the link and the node: a peer that sends faster than it is served, or than it reads the replies, has to wait.
 *
 * <p>A link without an unanswered request is always served. Servers are not subject to the bounds of the node: clients cannot
 * delay them. Urgent requests wait for no others, but have the bound of the link as well.
 *
 * <p>The length of a reply is known after its request has been taken, so a further bound applies to the memory of the long
 * replies to all clients: over it, a reply is refused. A reply that waits longer than the time-out ends the link. Its time is
 * that of {@link Liveness}: a pause of this process is not one of its peers.
 *
 * <p>Guarded by the lock of the link, except for the node's {@link Admission}.
 */
final class Intake {
    private final Admission admission;
    private final PeerBounds bounds;
    private int requests;
    private long bytes;
    private int held;
    private int urgentRequests;
    private int heldUrgent;
    /** The requests with replies that wait for the peer, the longest wait first. */
    private final LinkedHashSet<Ticket> waiting = new LinkedHashSet<>();
    private final long replyTimeoutNs;
    /** The time of the ticks, and that of the latest one. */
    private long clockNs;
    private long tickNs;

    /** An unanswered request. */
    final class Ticket {
        private final int lengthBytes;
        private final boolean urgent;
        private final PeerRole role;
        private int replyBytes;
        /** Of the node's memory for long replies. */
        private int regionBytes;
        private long waitsSinceNs;
        private boolean ended;

        private Ticket(final int lengthBytes, final boolean urgent, final PeerRole role) {
            this.lengthBytes = lengthBytes;
            this.urgent = urgent;
            this.role = role;
        }

        /** Whether the reply is urgent as the request was. */
        boolean isUrgent() {
            return urgent;
        }

        /** Counts the reply, which occupies memory until it is posted or read; another one replaces it. */
        void reply(final int newBytes) {
            if (!ended) {
                bytes += newBytes - replyBytes;
                admission.add(newBytes - replyBytes);
                replyBytes = newBytes;
            }
        }

        /**
         * Takes memory of the node for a long reply, instead of that for an earlier one; it returns at the end.
         *
         * @param newBytes length of the memory, 0 for a short reply
         * @return false if the unread replies to clients leave none
         */
        boolean takeRegion(final int newBytes) {
            if (ended || role == PeerRole.SERVER) {
                return true;
            }
            admission.replied(regionBytes);
            regionBytes = newBytes == 0 || admission.reply(newBytes) ? newBytes : 0;
            return regionBytes == newBytes;
        }

        /** Called when the reply waits for the peer: for a credit, or to be read. A reply that is not written yet does not. */
        void onWaiting() {
            if (!ended && waiting.add(this)) {
                waitsSinceNs = clockNs;
            }
        }

        /** Ends the request: its reply has left this node's memory, or there will be none; idempotent. */
        void end() {
            if (!ended) {
                reply(0);
                takeRegion(0);
                waiting.remove(this);
                ended = true;
                requests--;
                urgentRequests -= urgent ? 1 : 0;
                bytes -= lengthBytes;
                admission.leave(lengthBytes);
            }
        }
    }

    Intake(final Admission admission, final PeerBounds bounds) {
        this.admission = admission;
        this.bounds = bounds;
        replyTimeoutNs = TimeUnit.MILLISECONDS.toNanos(bounds.replyTimeoutMs());
        tickNs = System.nanoTime();
    }

    /**
     * Counts a request that is delivered.
     *
     * @param urgent whether its reply is urgent, too
     * @param role   of the peer
     */
    Ticket begin(final int lengthBytes, final boolean urgent, final PeerRole role) {
        requests++;
        urgentRequests += urgent ? 1 : 0;
        bytes += lengthBytes;
        admission.enter(lengthBytes);
        return new Ticket(lengthBytes, urgent, role);
    }

    /** Adds the time since the previous tick; returns true if a reply waits longer than the time-out. */
    boolean isOverdue(final long nowNs) {
        clockNs += Math.min(nowNs - tickNs, Liveness.MAX_STEP_NS);
        tickNs = nowNs;
        return !waiting.isEmpty() && clockNs - waiting.getFirst().waitsSinceNs >= replyTimeoutNs;
    }

    /** Called when the engine has taken a request: its credit may return. */
    void onTaken() {
        held++;
    }

    /** Whether the peer may send further requests. */
    boolean admits(final PeerRole role) {
        return requests == 0 || requests < bounds.maxLinkRequests() && bytes < bounds.maxLinkBytes() &&
            (role == PeerRole.SERVER || admission.isOpen());
    }

    /**
     * Called when an urgent request has been received.
     *
     * @return whether its credit returns at once; otherwise {@link #releaseUrgent} returns it later
     */
    boolean admitsUrgent() {
        if (urgentRequests < bounds.maxLinkRequests()) {
            return true;
        }
        heldUrgent++;
        return false;
    }

    /** Number of urgent credits to return now. */
    int releaseUrgent() {
        if (urgentRequests >= bounds.maxLinkRequests()) {
            return 0;
        }
        final int released = heldUrgent;
        heldUrgent = 0;
        return released;
    }

    /** Number of credits to return now. */
    int release(final PeerRole role) {
        if (held == 0 || !admits(role)) {
            return 0;
        }
        final int released = held;
        held = 0;
        return released;
    }
}
