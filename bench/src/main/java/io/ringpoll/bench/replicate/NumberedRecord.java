package io.ringpoll.bench.replicate;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Random;
import java.util.zip.CRC32C;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A record with its number, its series and a checksum.
 *
 * <pre>
 *   0        8        16              length - 4
 *   | number | series | anything ...  | CRC-32C of the bytes before |
 * </pre>
 *
 * @param series its series: one for each run of a client
 * @param number its position in the series, from 0
 */
record NumberedRecord(long series, long number) {
    /** The shortest record. */
    static final int MIN_BYTES = 20;

    private static final int SERIES_OFFSET = 8;
    private static final int SUM_BYTES = 4;

    /** Encodes the record, with arbitrary bytes between the numbers and the checksum. */
    ByteString toBytes(final int lengthBytes, final Random random) {
        final byte[] bytes = new byte[lengthBytes];
        random.nextBytes(bytes);
        final ByteBuffer buffer = ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN);
        buffer.putLong(0, number).putLong(SERIES_OFFSET, series);
        buffer.putInt(lengthBytes - SUM_BYTES, sum(bytes));
        return UnsafeByteOperations.unsafeWrap(bytes);
    }

    /** Decodes a record; null if it is invalid or incomplete. */
    static NumberedRecord of(final ByteString content) {
        if (content.size() < MIN_BYTES) {
            return null;
        }
        final byte[] bytes = content.toByteArray();
        final ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (buffer.getInt(bytes.length - SUM_BYTES) != sum(bytes)) {
            return null;
        }
        return new NumberedRecord(buffer.getLong(SERIES_OFFSET), buffer.getLong(0));
    }

    private static int sum(final byte[] bytes) {
        final CRC32C crc = new CRC32C();
        crc.update(bytes, 0, bytes.length - SUM_BYTES);
        return (int) crc.getValue();
    }
}
