package io.ringpoll.internal.transport;

/**
 * The requests of one peer, from their delivery until their replies have been posted, and read if they are long. The credit of a
 * request returns when the engine has taken the request, and when the unanswered ones, with the memory of the replies, are below
 * the bounds of the link and the node: a peer that sends faster than it is served, or than it reads the replies, has to wait.
 *
 * <p>A link without an unanswered request is always served. Servers are not subject to the bounds of the node: clients cannot
 * delay them. Urgent requests wait for no others, but have the bound of the link as well.
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

    /** An unanswered request. */
    final class Ticket {
        private final int lengthBytes;
        private final boolean urgent;
        private int replyBytes;
        private boolean ended;

        private Ticket(final int lengthBytes, final boolean urgent) {
            this.lengthBytes = lengthBytes;
            this.urgent = urgent;
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

        /** Ends the request: its reply has left this node's memory, or there will be none; idempotent. */
        void end() {
            if (!ended) {
                reply(0);
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
    }

    /**
     * Counts a request that is delivered.
     *
     * @param urgent whether its reply is urgent, too
     */
    Ticket begin(final int lengthBytes, final boolean urgent) {
        requests++;
        urgentRequests += urgent ? 1 : 0;
        bytes += lengthBytes;
        admission.enter(lengthBytes);
        return new Ticket(lengthBytes, urgent);
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
