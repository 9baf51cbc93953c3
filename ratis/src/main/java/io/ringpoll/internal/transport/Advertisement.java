package io.ringpoll.internal.transport;

import java.nio.ByteBuffer;

/**
 * The payload of a rendezvous frame: the location of the message.
 * <pre>
 *    0               8        12                  14
 *   +---------------+--------+-------------------+------------+
 *   | region offset | number | descriptor length | descriptor |
 *   +---------------+--------+-------------------+------------+
 * </pre>
 *
 * @param offset     of the message in the region
 * @param number     of the region among those that its owner has advertised on this connection
 * @param descriptor of the region, in librpma's format
 */
record Advertisement(long offset, int number, byte[] descriptor) {
    private static final int NUMBER_OFFSET = 8;
    private static final int LENGTH_OFFSET = 12;
    private static final int DESCRIPTOR_OFFSET = 14;

    int lengthBytes() {
        return DESCRIPTOR_OFFSET + descriptor.length;
    }

    /** Writes the payload after a frame's header. */
    void write(final ByteBuffer frame) {
        final int base = FrameHeader.LENGTH_BYTES;
        frame.putLong(base, offset).putInt(base + NUMBER_OFFSET, number)
            .putShort(base + LENGTH_OFFSET, (short) descriptor.length).put(base + DESCRIPTOR_OFFSET, descriptor);
    }

    /** Reads the payload after a frame's header. */
    static Advertisement read(final ByteBuffer frame, final FrameHeader header) throws ProtocolException {
        final int base = FrameHeader.LENGTH_BYTES;
        if (header.payloadLength() < DESCRIPTOR_OFFSET) {
            throw new ProtocolException("an advertisement of " + header.payloadLength() + " bytes");
        }
        final int length = frame.getShort(base + LENGTH_OFFSET);
        if (length != header.payloadLength() - DESCRIPTOR_OFFSET || length == 0) {
            throw new ProtocolException("a region's descriptor of " + length + " bytes in " + header.payloadLength());
        }
        final byte[] descriptor = new byte[length];
        frame.get(base + DESCRIPTOR_OFFSET, descriptor);
        return new Advertisement(frame.getLong(base), frame.getInt(base + NUMBER_OFFSET), descriptor);
    }
}
