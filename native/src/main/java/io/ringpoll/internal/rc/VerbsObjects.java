package io.ringpoll.internal.rc;

import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.QueuePair;

/** The objects of verbs behind those of this package, for module {@code connections}, whose API has them. */
public final class VerbsObjects {
    private VerbsObjects() {
    }

    /**
     * A protection domain as a peer of this package.
     *
     * @param domain of the caller, who closes it after the peer
     * @return does not close it
     */
    public static RcPeer of(final ProtectionDomain domain) {
        return VerbsPeer.of(domain);
    }

    /**
     * The queue pair of a connection.
     *
     * @param connection of either binding
     * @return null if librpma has made it
     */
    public static QueuePair of(final RcConnection connection) {
        return connection instanceof final VerbsConnection own ? own.queuePair() : null;
    }
}
