package io.ringpoll.verbs;

import io.ringpoll.internal.ffm.Memory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Converts addresses to {@code struct sockaddr_in} and {@code struct sockaddr_in6} and back.
 *
 * <pre>
 *   struct sockaddr_in {              struct sockaddr_in6 {
 *       sa_family_t sin_family;  0        sa_family_t sin6_family;    0
 *       in_port_t sin_port;      2        in_port_t sin6_port;        2
 *       struct in_addr sin_addr; 4        uint32_t sin6_flowinfo;     4
 *       ...                               struct in6_addr sin6_addr;  8
 *   };                                    uint32_t sin6_scope_id;    24
 *                                     };
 * </pre>
 */
final class SocketAddress {
    private static final short AF_INET = 2;
    private static final short AF_INET6 = 10;
    private static final int PORT_OFFSET = 2;
    private static final int IPV4_OFFSET = 4;
    private static final int IPV4_BYTES = 4;
    private static final int IPV6_OFFSET = 8;
    private static final int IPV6_BYTES = 16;
    private static final int SCOPE_OFFSET = 24;
    private static final int SIZE_BYTES = 28;
    private static final ValueLayout.OfShort NETWORK_SHORT =
        ValueLayout.JAVA_SHORT.withOrder(ByteOrder.BIG_ENDIAN);

    private SocketAddress() {
    }

    /** Checks an address of a user. */
    static void require(final String what, final InetSocketAddress address) {
        Objects.requireNonNull(address, "the " + what + " is null");
        if (address.isUnresolved()) {
            throw new IllegalArgumentException("the " + what + " " + address + " is unresolved: its name is unknown");
        }
    }

    static MemorySegment allocate(final InetSocketAddress address, final Arena arena) {
        final MemorySegment struct = arena.allocate(SIZE_BYTES, Long.BYTES);
        final byte[] bytes = address.getAddress().getAddress();
        struct.set(NETWORK_SHORT, PORT_OFFSET, (short) address.getPort());
        if (bytes.length == IPV4_BYTES) {
            struct.set(ValueLayout.JAVA_SHORT, 0, AF_INET);
            MemorySegment.copy(bytes, 0, struct, ValueLayout.JAVA_BYTE, IPV4_OFFSET, bytes.length);
        } else {
            struct.set(ValueLayout.JAVA_SHORT, 0, AF_INET6);
            MemorySegment.copy(bytes, 0, struct, ValueLayout.JAVA_BYTE, IPV6_OFFSET, bytes.length);
            struct.set(ValueLayout.JAVA_INT, SCOPE_OFFSET, ((Inet6Address) address.getAddress()).getScopeId());
        }
        return struct;
    }

    /** Reads an address; null if there is none. */
    static InetSocketAddress at(final long address) {
        final byte[] head = Memory.bytesAt(address, IPV4_OFFSET);
        final int family = head[0] & 0xFF;
        final int port = (head[PORT_OFFSET] & 0xFF) << Byte.SIZE | head[PORT_OFFSET + 1] & 0xFF;
        try {
            return switch (family) {
                case AF_INET -> new InetSocketAddress(
                    InetAddress.getByAddress(Memory.bytesAt(address + IPV4_OFFSET, IPV4_BYTES)), port);
                case AF_INET6 -> new InetSocketAddress(
                    InetAddress.getByAddress(Memory.bytesAt(address + IPV6_OFFSET, IPV6_BYTES)), port);
                default -> null;
            };
        } catch (final UnknownHostException e) {
            throw new AssertionError("an address of 4 or 16 bytes", e);
        }
    }
}
