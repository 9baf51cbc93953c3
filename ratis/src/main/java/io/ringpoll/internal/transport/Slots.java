package io.ringpoll.internal.transport;

/**
 * The connections that a node may have: clients leave some to servers, and a peer that has not proven the secret takes none.
 * Thread-safe; its lock is the innermost one.
 */
final class Slots {
    private final NodeConfig config;
    private int taken;

    Slots(final NodeConfig config) {
        this.config = config;
    }

    /** Whether a peer of a role would get a slot now. */
    synchronized boolean hasRoom(final PeerRole role) {
        return taken < config.connectionsFor(role);
    }

    /** Takes a slot for a peer of a role; returns false if none is left. */
    synchronized boolean take(final PeerRole role) {
        if (!hasRoom(role)) {
            return false;
        }
        taken++;
        return true;
    }

    /** Returns a slot. */
    synchronized void release() {
        taken--;
    }

    /** The reason for which a peer gets none. */
    synchronized String shortage() {
        return "there are " + taken + " connections already (raft.rdma.connections.max)";
    }
}
