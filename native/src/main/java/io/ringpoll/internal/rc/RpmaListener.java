package io.ringpoll.internal.rc;

import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.Endpoint;
import java.util.Optional;

/** A listener over librpma: an {@link Endpoint}. Threads: {@link RcListener}. */
final class RpmaListener extends RcListener {
    private final Endpoint endpoint;

    RpmaListener(final Endpoint endpoint) {
        this.endpoint = endpoint;
    }

    @Override
    public int port() {
        return endpoint.port();
    }

    @Override
    public int eventFd() {
        return endpoint.fd();
    }

    @Override
    public Optional<RcRequest> nextRequest(final RcConfig config, final int timeoutMs) {
        try (ConnectionConfig own = RpmaPeer.config(config)) {
            return endpoint.nextRequest(own, timeoutMs).map(request -> new RpmaRequest(request, config.counted()));
        }
    }

    @Override
    public void close() {
        endpoint.close();
    }
}
