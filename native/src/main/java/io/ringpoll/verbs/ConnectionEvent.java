package io.ringpoll.verbs;

import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.os.Errno;
import java.util.Arrays;
import java.util.Objects;

/**
 * An event of a {@link ConnectionId}. It is acknowledged already, and a copy: it stays valid.
 *
 * @param type        the kind of event
 * @param status      0, a negative errno, or the reason of a {@link ConnectionEventType#REJECTED}: 28 if the other side's program
 *                    has rejected, 8 if nobody listens
 * @param privateData of the other side, padded with zeros to the length that the transport carries; empty if there is none
 * @see <a href="https://man7.org/linux/man-pages/man3/rdma_get_cm_event.3.html">rdma_get_cm_event(3)</a>
 */
public record ConnectionEvent(ConnectionEventType type, int status, byte[] privateData) {
    /** Copies the private data. */
    public ConnectionEvent {
        Objects.requireNonNull(type, "the type is null");
        privateData = Objects.requireNonNull(privateData, "the privateData are null").clone();
    }

    /** Copies a {@code struct rdma_cm_event}. */
    static ConnectionEvent at(final long event) {
        final ConnectionEventType type = ConnectionEventType.of(Memory.intAt(event + RdmaCm.EVENT_TYPE_OFFSET));
        final byte[] data = switch (type) {
            case CONNECT_REQUEST, CONNECT_RESPONSE, ESTABLISHED, REJECTED ->
                privateDataAt(event + RdmaCm.EVENT_CONNECTION_OFFSET);
            default -> new byte[0];
        };
        return new ConnectionEvent(type, Memory.intAt(event + RdmaCm.EVENT_STATUS_OFFSET), data);
    }

    private static byte[] privateDataAt(final long parameters) {
        final long data = Memory.longAt(parameters + RdmaCm.PRIVATE_DATA_OFFSET);
        final int lengthBytes = Memory.bytesAt(parameters + RdmaCm.PRIVATE_DATA_LENGTH_OFFSET, 1)[0] & 0xFF;
        return data == 0 ? new byte[0] : Memory.bytesAt(data, lengthBytes);
    }

    /**
     * The private data of the other side.
     *
     * @return a new array
     */
    @Override
    public byte[] privateData() {
        return privateData.clone();
    }

    @Override
    public boolean equals(final Object other) {
        return other instanceof final ConnectionEvent event && type == event.type && status == event.status &&
            Arrays.equals(privateData, event.privateData);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * type.hashCode() + status) + Arrays.hashCode(privateData);
    }

    @Override
    public String toString() {
        return type + (status == 0 ? "" : status < 0 ? ", " + Errno.describe(-status) : ", status " + status) +
            (privateData.length == 0 ? "" : ", " + privateData.length + " bytes of private data");
    }
}
