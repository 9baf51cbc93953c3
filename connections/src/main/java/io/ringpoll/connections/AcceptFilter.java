package io.ringpoll.connections;

import java.net.InetAddress;
import java.util.Optional;

/**
 * Decides about the connection requests of peers, see {@link ConnectionSetBuilder#acceptFilter}.
 */
@FunctionalInterface
public interface AcceptFilter {
    /**
     * Decides about a request, before anything is allocated for it. Called on the set's thread of connection events, on which all
     * requests, ends and time-outs of the set wait meanwhile: it must not block.
     *
     * @param address  from which the peer connects; empty if the device does not know it
     * @param peerData private data that the peer has sent with its request; empty if there is none
     * @return true to accept the request, false to reject it
     * @throws Exception rejects the request, and is passed to the error handler of the set
     */
    boolean accepts(Optional<InetAddress> address, byte[] peerData) throws Exception;
}
