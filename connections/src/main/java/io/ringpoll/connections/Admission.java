package io.ringpoll.connections;

import io.ringpoll.internal.rc.RcRequest;
import java.net.InetAddress;

/** Decides with which peers a set has connections, by their hellos and its filter. Belongs to the thread of events. */
final class Admission {
    private final int minMessageBytes;
    /** Null if there is none. */
    private final AcceptFilter filter;
    private final ListenerFailures failures;

    Admission(final int minMessageBytes, final AcceptFilter filter, final ListenerFailures failures) {
        this.minMessageBytes = minMessageBytes;
        this.filter = filter;
        this.failures = failures;
    }

    /** Requires a peer that suffices; of either side. */
    Hello require(final Hello peers) throws ProtocolViolation {
        if (peers.maxMessageBytes() < minMessageBytes) {
            throw new ProtocolViolation("a peer with messages of at most " + peers.maxMessageBytes() +
                " bytes, below minMessageBytes of " + minMessageBytes);
        }
        return peers;
    }

    /** Requires that the filter accepts a request, too. */
    Hello require(final RcRequest request, final Hello peers) throws ProtocolViolation {
        require(peers);
        if (filter != null && !accepts(request, peers)) {
            throw new IllegalStateException("the accept filter has rejected a request from " +
                request.remoteAddress().map(InetAddress::getHostAddress).orElse("an unknown address"));
        }
        return peers;
    }

    private boolean accepts(final RcRequest request, final Hello peers) {
        try {
            return filter.accepts(request.remoteAddress(), peers.userData().clone());
        } catch (final Throwable failure) {
            failures.onListenerException(failure);
            return false;
        }
    }
}
