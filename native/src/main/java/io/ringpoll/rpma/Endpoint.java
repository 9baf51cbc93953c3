package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.os.BlockingCalls;
import io.ringpoll.internal.os.FileDescriptors;
import io.ringpoll.os.Errno;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.foreign.Arena;
import java.util.Optional;

/**
 * A listening endpoint for incoming connections.
 *
 * <p>Any thread may take requests, and any may close. Requests that were taken must be connected or closed first.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_ep_listen.3.html">rpma_ep_listen(3)</a>
 */
public final class Endpoint extends RpmaObject {
    private final Peer peer;
    private final int fd;
    /** {@link RpmaEp#NO_PORT} if it cannot be read. */
    private final int port;
    /** Held by the thread that takes a request. */
    private final Object taking = new Object();

    private Endpoint(final String name, final Peer peer, final long address, final int fd, final int port) {
        super(name, address);
        this.peer = peer;
        this.fd = fd;
        this.port = port;
        FileDescriptors.setNonBlocking(fd);
    }

    static Endpoint listen(final Peer peer, final String address, final String port) {
        return BlockingCalls.create("listening on " + address + ":" + port,
            handover -> create(peer, address, port, handover));
    }

    private static Endpoint create(final Peer peer, final String address, final String port,
        final BlockingCalls.Handover handover) {
        final long peerAddress = peer.enterAsParent();
        try (Arena arena = Arena.ofConfined()) {
            final CallState state = CallState.current();
            LogSink.clearError();
            RpmaException.check("rpma_ep_listen(" + address + ":" + port + ")",
                Librpma.CONNECTION.rpma_ep_listen(peerAddress, arena.allocateFrom(address).address(),
                    arena.allocateFrom(port).address(), state.scratch()));
            final long listening = state.longAt(0);
            if (handover.isRefused()) {
                shutDown(listening);
                return null;
            }
            try {
                RpmaException.check("rpma_ep_get_fd", Librpma.CONNECTION.rpma_ep_get_fd(listening, state.scratch()));
                final int fd = state.intAt(0);
                final int taken = RpmaEp.port(listening, fd);
                if (taken == RpmaEp.NO_PORT && AddressText.isAnyPort(port)) {
                    throw new UnsupportedOperationException("port \"" + port + "\" takes a free port that cannot be read from " +
                        "this librpma: listen on a port of your choice");
                }
                final String shown = AddressText.isAnyPort(port) ? Integer.toString(taken) : port;
                final Endpoint endpoint = new Endpoint("endpoint " + address + ":" + shown, peer, listening, fd, taken);
                endpoint.dependsOn(peer);
                return handover.give(endpoint);
            } catch (final RuntimeException | Error failure) {
                shutDown(listening);
                throw failure;
            }
        } finally {
            peer.exitAsParent();
        }
    }

    /**
     * The descriptor, readable when there is a request; for epoll(7) and the like. It is non-blocking and must stay so.
     *
     * @return the descriptor of the event channel, valid until this is closed
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_ep_get_fd.3.html">rpma_ep_get_fd(3)</a>
     */
    public int fd() {
        return fd;
    }

    /**
     * The port of this endpoint: the other side needs it if port {@code "0"} selected a free one, or for a service name.
     *
     * @return 1 to 65535; also of a closed endpoint
     * @throws UnsupportedOperationException if the loaded librpma hides it
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rdma_get_src_port.3.html">rdma_get_src_port(3)</a>
     */
    public int port() {
        if (port == RpmaEp.NO_PORT) {
            throw new UnsupportedOperationException(
                "the port of " + name() + " cannot be read: this librpma's struct rpma_ep is none of those of 0.9 to 1.3");
        }
        return port;
    }

    /**
     * Waits for the next request for a connection, with the default configuration.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the request, or empty if there was none in time
     * @throws IllegalStateException    if this is closed, now or while it waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws RpmaException            as in rpma_ep_next_conn_req(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_ep_next_conn_req.3.html">rpma_ep_next_conn_req(3)</a>
     */
    public Optional<ConnectionRequest> nextRequest(final int timeoutMs) {
        return nextRequest(null, timeoutMs);
    }

    /**
     * Waits for the next request for a connection.
     *
     * @param config    sizes of the connection's queues; copied
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the request, or empty if there was none in time
     * @throws IllegalStateException    if this is closed, now or while it waits, or the configuration is closed
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws RpmaException            as in rpma_ep_next_conn_req(3)
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_ep_next_conn_req.3.html">rpma_ep_next_conn_req(3)</a>
     */
    public Optional<ConnectionRequest> nextRequest(final ConnectionConfig config, final int timeoutMs) {
        ConnectionConfig.requireOpen(config);
        return awaitNext(fd, timeoutMs, endpoint -> take(endpoint, config));
    }

    private Optional<ConnectionRequest> take(final long endpoint, final ConnectionConfig config) {
        final long configAddress = ConnectionConfig.enter(config);
        try {
            final CallState state = CallState.current();
            final int result;
            // librpma takes an event from the endpoint's channel by several calls.
            synchronized (taking) {
                LogSink.clearError();
                result = Librpma.CONNECTION.rpma_ep_next_conn_req(endpoint, configAddress, state.scratch());
            }
            if (isNoEvent(result)) {
                return Optional.empty();
            }
            RpmaException.check("rpma_ep_next_conn_req", result, QueueLimits.remedy(peer, config));
            return Optional.of(ConnectionRequest.ofPassive(this, config, state.longAt(0), RpmaEp.channel(endpoint, fd)));
        } finally {
            ConnectionConfig.exit(config);
        }
    }

    /**
     * Whether an event channel was empty: librpma's own code, or its code on a non-blocking channel.
     */
    static boolean isNoEvent(final int result) {
        final boolean none =
            result == RpmaError.NO_EVENT || result == RpmaError.PROVIDER && CallState.current().errno() == Errno.EAGAIN;
        if (none) {
            LogSink.clearError();
        }
        return none;
    }

    Peer peer() {
        return peer;
    }

    @Override
    protected void destroy(final long lastAddress) {
        RpmaException.check("rpma_ep_shutdown", shutDown(lastAddress));
    }

    private static int shutDown(final long endpoint) {
        return delete(Librpma.CONNECTION::rpma_ep_shutdown, endpoint);
    }
}
