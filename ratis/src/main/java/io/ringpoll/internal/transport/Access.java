package io.ringpoll.internal.transport;

/**
 * The identity of a node, and the peers that it accepts.
 *
 * @param role         of this node
 * @param id           of this node, for the log and the metrics of its peers; {@link Hello#MAX_NAME_BYTES} bytes are sent
 * @param secret       shared with all peers, or null
 * @param serverSecret shared with the peers that are servers; null if that is the same
 * @param allowed      addresses from which peers may connect
 */
public record Access(PeerRole role, String id, Secret secret, Secret serverSecret, AddressFilter allowed) {
    /** A server that accepts all peers. */
    public static final Access OPEN = new Access(PeerRole.SERVER, "", null, null, AddressFilter.ANY);

    /** The secret for connections requested by a node of a role; null if there is none. */
    Secret secretOf(final PeerRole requesting) {
        return requesting == PeerRole.SERVER && serverSecret != null ? serverSecret : secret;
    }
}
