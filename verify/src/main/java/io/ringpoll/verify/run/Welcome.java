package io.ringpoll.verify.run;

import java.nio.ByteBuffer;

/**
 * The private data of a server's acceptance: the descriptors of its memory.
 *
 * <pre>
 *   magic 4 | version 1 | length a 1 | length b 1 | reserved 1 | descriptor a | descriptor b      network byte order
 * </pre>
 *
 * @param cells   descriptor of the region that the workload reads and writes
 * @param refused descriptor of a region on which the failing operation of this connection must fail; empty if there is none
 */
record Welcome(byte[] cells, byte[] refused) {
    private static final int MAGIC = 0x52504F4D;
    private static final byte VERSION = 1;
    private static final int HEADER_LENGTH = 8;
    private static final int MAX_DESCRIPTOR = 80;

    byte[] encode() {
        return ByteBuffer.allocate(HEADER_LENGTH + cells.length + refused.length)
            .putInt(MAGIC).put(VERSION).put((byte) cells.length).put((byte) refused.length).put((byte) 0)
            .put(cells).put(refused)
            .array();
    }

    /**
     * Decodes the private data of a server.
     *
     * @param privateData possibly longer than the encoding, padded by the transport
     * @throws IllegalArgumentException that names the invalid field
     */
    static Welcome decode(final byte[] privateData) {
        final ByteBuffer buffer = ByteBuffer.wrap(privateData);
        if (privateData.length < HEADER_LENGTH || buffer.getInt() != MAGIC || buffer.get() != VERSION) {
            throw new IllegalArgumentException("not a ringpoll server of version " + VERSION);
        }
        final int cellsLength = buffer.get() & 0xFF;
        final int refusedLength = buffer.get() & 0xFF;
        buffer.get();
        if (cellsLength > MAX_DESCRIPTOR || refusedLength > MAX_DESCRIPTOR || cellsLength + refusedLength > buffer.remaining()) {
            throw new IllegalArgumentException(
                "descriptors of " + cellsLength + " and " + refusedLength + " bytes in " + privateData.length +
                    " bytes of private data");
        }
        final byte[] cells = new byte[cellsLength];
        final byte[] refused = new byte[refusedLength];
        buffer.get(cells).get(refused);
        return new Welcome(cells, refused);
    }
}
