package io.ringpoll.rpma;

import io.ringpoll.internal.ffm.Memory;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;

/**
 * Layout of librpma's own {@code struct rpma_conn_req}, the only way to the address from which the other side connects. The
 * offset of the identifier is the same from 0.9 to 1.3.
 *
 * <pre>
 *   struct rpma_conn_req {                       struct rdma_cm_id {
 *       int is_passive;                   0          struct ibv_context *verbs;                      0
 *       struct rdma_cm_id *id;            8          struct rdma_event_channel *channel;             8
 *       ...                                          void *context;                                 16
 *   };                                               struct ibv_qp *qp;                             24
 *                                                    struct sockaddr_storage route.addr.src_storage; 32
 *                                                    struct sockaddr_storage route.addr.dst_storage; 160
 *                                                    ...
 *                                                };
 * </pre>
 *
 * <p>It is no interface: a request of the other side uses the event channel of the endpoint, or it has another layout.
 */
final class RpmaConnReq {
    private static final int ID_OFFSET = 8;
    private static final int CM_ID_CHANNEL_OFFSET = 8;
    private static final int CM_ID_DESTINATION_OFFSET = 160;
    private static final int IPV4 = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6 = 10;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_BYTES = 16;
    private static final int SHORT_MASK = 0xFFFF;

    private RpmaConnReq() {
    }

    /**
     * Reads the address from which the other side connects.
     *
     * @param rpmaConnReq address of the {@code struct rpma_conn_req}, of the other side
     * @param channel     address of the endpoint's event channel, as in {@link RpmaEp#channel}
     * @return the address; null if this librpma has another layout, or the address is neither IPv4 nor IPv6
     * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rdma_get_peer_addr.3.html">rdma_get_peer_addr(3)</a>
     */
    static InetAddress remoteAddress(final long rpmaConnReq, final long channel) {
        final long id = channel == 0 ? 0 : Memory.longAt(rpmaConnReq + ID_OFFSET);
        if (!RpmaEp.isPointer(id) || Memory.longAt(id + CM_ID_CHANNEL_OFFSET) != channel) {
            return null;
        }
        final long destination = id + CM_ID_DESTINATION_OFFSET;
        return switch (family(Memory.intAt(destination))) {
            case IPV4 -> address(Memory.bytesAt(destination + IPV4_OFFSET, IPV4_BYTES));
            case IPV6 -> address(Memory.bytesAt(destination + IPV6_OFFSET, IPV6_BYTES));
            default -> null;
        };
    }

    /** The first two bytes of a {@code struct sockaddr}. */
    private static int family(final int first) {
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? first & SHORT_MASK : first >>> Short.SIZE;
    }

    private static InetAddress address(final byte[] bytes) {
        try {
            return InetAddress.getByAddress(bytes);
        } catch (final UnknownHostException e) {
            throw new AssertionError("an address of " + bytes.length + " bytes", e);
        }
    }
}
