package io.ringpoll.internal.rc;

import java.util.Optional;

/** Listens for requests of other sides. Any thread may take requests and close. */
public abstract class RcListener extends RcResource {
    RcListener() {
    }

    /**
     * The port.
     *
     * @return 1 to 65535
     */
    public abstract int port();

    /**
     * The descriptor that is readable when there is a request.
     *
     * @return valid until this is closed
     */
    public abstract int eventFd();

    /**
     * Waits for the next request.
     *
     * @param config    sizes of the connection's queues
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return to be connected or closed; empty if there was none in time
     */
    public abstract Optional<RcRequest> nextRequest(RcConfig config, int timeoutMs);
}
