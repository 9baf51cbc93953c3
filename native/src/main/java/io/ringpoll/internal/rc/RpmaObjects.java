package io.ringpoll.internal.rc;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;

/** The objects of librpma behind those of this package, for the API of module {@code connections}. */
public final class RpmaObjects {
    private RpmaObjects() {
    }

    /**
     * A peer as one of this package.
     *
     * @param peer closed by the caller
     * @return closes the same peer
     */
    public static RcPeer of(final Peer peer) {
        return new RpmaPeer(peer);
    }

    /**
     * A connection as one of this package.
     *
     * @param connection of the caller
     * @return closes the same connection
     */
    public static RcConnection of(final Connection connection) {
        return new RpmaConnection(connection);
    }

    /**
     * The connection of librpma.
     *
     * @param connection of a peer of librpma
     * @return the same at each call
     */
    public static Connection of(final RcConnection connection) {
        return ((RpmaConnection) connection).connection();
    }

    /**
     * The memory region of librpma.
     *
     * @param memory of a peer of librpma
     * @return the same at each call
     */
    public static LocalMemoryRegion of(final RcMemory memory) {
        return RpmaMemory.of(memory);
    }
}
