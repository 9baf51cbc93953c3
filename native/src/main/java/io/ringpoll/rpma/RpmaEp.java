package io.ringpoll.rpma;

import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_SHORT;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.ByteOrder;

/**
 * Layout of librpma's own {@code struct rpma_ep}, the only way to the port on which an endpoint listens. It is the same from 0.9
 * to 1.3.
 *
 * <pre>
 *   struct rpma_ep {                             struct rdma_cm_id {                        struct rdma_event_channel {
 *       struct rpma_peer *peer;           0          struct ibv_context *verbs;         0       int fd;   0
 *       struct rdma_cm_id *id;            8          struct rdma_event_channel                  ...
 *       struct rdma_event_channel *evch; 16              *channel;                      8   };
 *   };                                               ...
 *                                                };
 * </pre>
 *
 * <p>It is no interface: its contents must agree with the results of the public calls.
 */
final class RpmaEp {
    /** The result of {@link #port} if the port cannot be read. */
    static final int NO_PORT = -1;

    private static final int ID_OFFSET = 8;
    private static final int EVCH_OFFSET = 16;
    private static final int CM_ID_CHANNEL_OFFSET = 8;
    private static final long LOWEST_ADDRESS = 0x10000;

    private RpmaEp() {
    }

    /** The downcall, made when the first endpoint listens. */
    private static final class SourcePort {
        private static final String NAME = "rdma_get_src_port";
        private static final NativeLibrary LIBRARY = Libraries.current().rpma();
        /** Found through librpma, which depends on librdmacm. */
        private static final MethodHandle rdma_get_src_port$mh =
            LIBRARY.plain(NAME, FunctionDescriptor.of(JAVA_SHORT, JAVA_LONG));

        private SourcePort() {
        }
    }

    /**
     * Reads the port of an endpoint.
     *
     * @param rpmaEp address of the {@code struct rpma_ep}
     * @param fd     the result of rpma_ep_get_fd(3)
     * @return the port; {@link #NO_PORT} if this librpma has another layout
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rdma_get_src_port.3.html">rdma_get_src_port(3)</a>
     */
    static int port(final long rpmaEp, final int fd) {
        final long id = cmId(rpmaEp, fd);
        if (id == 0 || !SourcePort.LIBRARY.has(SourcePort.NAME)) {
            return NO_PORT;
        }
        try {
            final int port = Short.toUnsignedInt(hostOrder((short) SourcePort.rdma_get_src_port$mh.invokeExact(id)));
            return port == 0 ? NO_PORT : port;
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    /**
     * Finds the connection manager's identifier of an endpoint.
     *
     * @param rpmaEp address of the {@code struct rpma_ep}
     * @param fd     the result of rpma_ep_get_fd(3)
     * @return address of the {@code struct rdma_cm_id}; 0 if this librpma has another layout
     */
    static long cmId(final long rpmaEp, final int fd) {
        final long channel = channel(rpmaEp, fd);
        if (channel == 0) {
            return 0;
        }
        final long id = Memory.longAt(rpmaEp + ID_OFFSET);
        return isPointer(id) && Memory.longAt(id + CM_ID_CHANNEL_OFFSET) == channel ? id : 0;
    }

    /**
     * Finds the event channel of an endpoint.
     *
     * @param rpmaEp address of the {@code struct rpma_ep}
     * @param fd     the result of rpma_ep_get_fd(3)
     * @return address of the {@code struct rdma_event_channel}; 0 if this librpma has another layout
     */
    static long channel(final long rpmaEp, final int fd) {
        final long channel = Memory.longAt(rpmaEp + EVCH_OFFSET);
        return isPointer(channel) && Memory.intAt(channel) == fd ? channel : 0;
    }

    private static short hostOrder(final short networkOrder) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? Short.reverseBytes(networkOrder) : networkOrder;
    }

    static boolean isPointer(final long value) {
        return value >= LOWEST_ADDRESS && (value & Long.BYTES - 1) == 0;
    }
}
