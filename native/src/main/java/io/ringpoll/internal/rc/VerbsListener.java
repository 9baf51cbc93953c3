package io.ringpoll.internal.rc;

import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.Listener;
import java.util.Optional;

/** A listener over verbs: a {@link Listener}. Threads: {@link RcListener}. */
final class VerbsListener extends RcListener {
    private final VerbsPeer peer;
    private final Listener listener;

    VerbsListener(final VerbsPeer peer, final Listener listener) {
        this.peer = peer;
        this.listener = listener;
    }

    @Override
    public int port() {
        return listener.port();
    }

    @Override
    public int eventFd() {
        return listener.eventFd();
    }

    @Override
    public Optional<RcRequest> nextRequest(final RcConfig config, final int timeoutMs) {
        final Optional<ConnectionId> id = listener.nextRequest(timeoutMs);
        return id.isEmpty() ? Optional.empty() : Optional.of(VerbsRequest.of(peer, id.get(), config));
    }

    @Override
    public void close() {
        listener.close();
    }
}
