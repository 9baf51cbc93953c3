package io.ringpoll.bench.link;

import java.nio.ByteBuffer;

/**
 * The private data of a client's connection request, and of the server's acceptance. The descriptor is of the binding that both
 * ends use.
 *
 * <pre>
 *   magic 4 | version 1 | purpose 1 | length 1 | reserved 1 | descriptor      network byte order
 * </pre>
 *
 * @param purpose    purpose of the connection
 * @param descriptor of the memory of its sender
 */
record Greeting(Purpose purpose, byte[] descriptor) {
    private static final int MAGIC = 0x52504D4C;
    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 8;

    byte[] encode() {
        return ByteBuffer.allocate(HEADER_BYTES + descriptor.length).putInt(MAGIC).put(VERSION).put((byte) purpose.ordinal())
            .put((byte) descriptor.length).put((byte) 0).put(descriptor).array();
    }

    /**
     * Decodes private data, which may be padded by the transport.
     *
     * @throws IllegalArgumentException in one line if it is not a greeting
     */
    static Greeting decode(final byte[] privateData) {
        final ByteBuffer bytes = ByteBuffer.wrap(privateData);
        if (bytes.remaining() < HEADER_BYTES || bytes.getInt() != MAGIC || bytes.get() != VERSION) {
            throw new IllegalArgumentException("not an end of a ringpoll measurement of version " + VERSION);
        }
        final int purpose = bytes.get();
        final int length = bytes.get() & 0xFF;
        bytes.get();
        if (purpose < 0 || purpose >= Purpose.values().length || length > bytes.remaining()) {
            throw new IllegalArgumentException("a greeting with purpose " + purpose + " and a descriptor of " + length +
                " bytes in " + privateData.length + " bytes of private data");
        }
        final byte[] descriptor = new byte[length];
        bytes.get(descriptor);
        return new Greeting(Purpose.values()[purpose], descriptor);
    }
}
