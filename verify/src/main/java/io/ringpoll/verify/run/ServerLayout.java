package io.ringpoll.verify.run;

import org.agrona.BitUtil;

/**
 * The layout of the memory that a server registers for one connection.
 *
 * <pre>
 *   0                  count of consumed receives, 8 bytes, written by the server
 *   8                  count of messages sent, 8 bytes, written by the client as its last; -1 before
 *   64                 cells: depth payloads, the targets of writes and sources of reads
 *   messageCells       cells: depth payloads, the targets of writes with immediate data
 *   receives           buffers: depth payloads, one per posted receive
 * </pre>
 *
 * @param depth        work requests in flight, a power of two
 * @param payloadBytes length of each payload
 */
record ServerLayout(int depth, int payloadBytes) {
    private static final int LINE = 64;

    /** Offset of the count of consumed receives. */
    static final int CONSUMED_OFFSET = 0;
    /** Offset of the count of messages sent. */
    static final int SENT_OFFSET = 8;

    /** Length of a cell: its payload, and padding to 8 bytes. */
    int cellBytes() {
        return BitUtil.align(payloadBytes, Long.BYTES);
    }

    int cellOffset(final int cell) {
        return LINE + cell * cellBytes();
    }

    int messageCellOffset(final long message) {
        return LINE + (depth + ((int) message & depth - 1)) * cellBytes();
    }

    int receiveOffset(final int receive) {
        return LINE + (2 * depth + receive) * cellBytes();
    }

    int lengthBytes() {
        return BitUtil.align(LINE + 3 * depth * cellBytes(), LINE);
    }

    /** Length of the memory of the client: a cell for each work request in flight, and one for the count that it reads. */
    int clientLengthBytes() {
        return BitUtil.align(LINE + depth * cellBytes(), LINE);
    }
}
