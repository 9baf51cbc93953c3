package io.ringpoll.internal.transport;

/**
 * The connections that a node may have: some are reserved for servers, and a peer that has not proven the secret takes none.
 * Thread-safe; its lock is the innermost one.
 */
final class Slots {
    private final NodeConfig config;
    private int taken;
    private int ofClients;

    Slots(final NodeConfig config) {
        this.config = config;
    }

    /** Whether a peer of a role would get a slot now. Those of servers do not count as slots of clients. */
    synchronized boolean hasRoom(final PeerRole role) {
        return taken < config.maxConnections() && (role == PeerRole.SERVER || ofClients < config.clientConnections());
    }

    /** Takes a slot for a peer of a role; returns false if none is left. */
    synchronized boolean take(final PeerRole role) {
        if (!hasRoom(role)) {
            return false;
        }
        add(role, 1);
        return true;
    }

    /** Returns the slot of a peer of a role. */
    synchronized void release(final PeerRole role) {
        add(role, -1);
    }

    private void add(final PeerRole role, final int slots) {
        taken += slots;
        if (role == PeerRole.CLIENT) {
            ofClients += slots;
        }
    }

    /** The reason for which a peer gets none. */
    synchronized String shortage() {
        return "there are " + taken + " connections already, " + ofClients + " of them of clients, which may have " +
            config.clientConnections() + " (raft.rdma.connections.max, raft.rdma.connections.reserved)";
    }
}
