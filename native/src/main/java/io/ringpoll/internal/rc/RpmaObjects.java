package io.ringpoll.internal.rc;

import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.Peer;

/** The objects of librpma behind those of this package, for the API of module {@code connections}. */
public final class RpmaObjects {
    private RpmaObjects() {
    }

    /**
     * A peer as one of this package.
     *
     * @param peer closed by the caller
     * @return does not close it
     */
    public static RcPeer of(final Peer peer) {
        return new RpmaPeer(peer, false);
    }

    /**
     * The connection of librpma.
     *
     * @param connection of either binding
     * @return the same at each call; null if librpma has not made it
     */
    public static Connection of(final RcConnection connection) {
        return connection instanceof final RpmaConnection own ? own.connection() : null;
    }
}
