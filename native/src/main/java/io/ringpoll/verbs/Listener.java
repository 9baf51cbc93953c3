package io.ringpoll.verbs;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.os.Errno;
import io.ringpoll.os.WaitInterruptedException;
import java.lang.foreign.Arena;
import java.net.InetSocketAddress;
import java.util.Optional;

/**
 * Listens for requests of other sides.
 *
 * <p>Thread-safe: any thread may take requests and close. A taken request is independent of it.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/rdma_listen.3.html">rdma_listen(3)</a>
 */
public final class Listener extends NativeResource {
    private final long channel;
    private final int eventFd;
    private final int port;
    /** Held by the thread that takes an event. */
    private final Object taking = new Object();

    private Listener(final String name, final long address, final long channel, final int port) {
        super(name, address);
        this.channel = channel;
        this.port = port;
        eventFd = EventChannel.fd(channel);
    }

    /**
     * Listens at an address.
     *
     * @param local   an address of this machine, or the wildcard address for all devices; port 0 takes any that is free
     * @param backlog maximum number of requests that wait; 0 for the default of the system
     * @return to be closed
     * @throws IllegalArgumentException           if the address is unresolved, or the backlog negative
     * @throws VerbsException                     with the errno of rdma_bind_addr(3), for instance EADDRINUSE, or rdma_listen(3)
     * @throws io.ringpoll.device.DeviceException if there is no device, or a library or a JVM flag is missing
     */
    public static Listener listen(final InetSocketAddress local, final int backlog) {
        SocketAddress.require("local address (local)", local);
        if (backlog < 0) {
            throw new IllegalArgumentException("a backlog of " + backlog + " is negative");
        }
        Loading.require();
        final long channel = EventChannel.create();
        final long id = EventChannel.createId(channel);
        try (Arena arena = Arena.ofConfined()) {
            EventChannel.check("rdma_bind_addr(" + local + ")",
                ConnectionFunctions.rdma_bind_addr(id, SocketAddress.allocate(local, arena).address()), "");
            EventChannel.check("rdma_listen(" + local + ")", ConnectionFunctions.rdma_listen(id, backlog), "");
            final int port = Short.toUnsignedInt(Short.reverseBytes(ConnectionFunctions.rdma_get_src_port(id)));
            return new Listener("listener at " + local.getAddress().getHostAddress() + ":" + port, id, channel, port);
        } catch (final RuntimeException | Error failure) {
            EventChannel.destroy(id, channel);
            throw failure;
        }
    }

    /**
     * The port.
     *
     * @return 1 to 65535; also of a closed listener
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_src_port.3.html">rdma_get_src_port(3)</a>
     */
    public int port() {
        return port;
    }

    /**
     * The descriptor that is readable when there is a request; for epoll(7) and the like. It is non-blocking and must stay so.
     *
     * @return the descriptor, valid until this is closed
     */
    public int eventFd() {
        return eventFd;
    }

    /**
     * Waits for the next request.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the request, in state {@link ConnectionState#REQUESTED}, to be accepted, rejected or closed; or empty if there was
     *     none in time
     * @throws IllegalStateException    if this is closed, now or while it waits
     * @throws WaitInterruptedException if the thread is interrupted before or while it waits; not with a time-out of 0
     * @throws VerbsException           with the errno of rdma_get_cm_event(3) or rdma_migrate_id(3); ENODEV if the device is gone
     * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html">rdma_get_cm_event(3)</a>
     */
    public Optional<ConnectionId> nextRequest(final int timeoutMs) {
        return awaitNext(eventFd, timeoutMs, id -> take());
    }

    private Optional<ConnectionId> take() {
        synchronized (taking) {
            final long address = EventChannel.take(channel);
            if (address == 0) {
                return Optional.empty();
            }
            final ConnectionEvent event;
            final long id;
            try {
                event = ConnectionEvent.at(address);
                id = Memory.longAt(address + RdmaCm.EVENT_ID_OFFSET);
            } finally {
                ConnectionFunctions.rdma_ack_cm_event(address);
            }
            return switch (event.type()) {
                case CONNECT_REQUEST -> Optional.of(ConnectionId.ofRequest(this, id, event.privateData()));
                case DEVICE_REMOVAL -> throw new VerbsException("rdma_get_cm_event", Errno.ENODEV, "the device is gone");
                default -> Optional.empty();
            };
        }
    }

    @Override
    protected void destroy(final long lastAddress) {
        EventChannel.destroy(lastAddress, channel);
    }
}
