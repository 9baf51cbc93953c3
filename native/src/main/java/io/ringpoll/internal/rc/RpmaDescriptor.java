package io.ringpoll.internal.rc;

import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.verbs.RemoteMemory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * librpma's descriptor of memory, little endian, which both bindings write and read: so the two sides need not use the same one.
 * <pre>
 *    0         8        16    20      21
 *   +---------+--------+-----+-------+
 *   | address | length | key | usage |
 *   +---------+--------+-----+-------+
 * </pre>
 */
final class RpmaDescriptor {
    /** Offset of the length. */
    static final int LENGTH_OFFSET = Long.BYTES;

    private static final int KEY_OFFSET = LENGTH_OFFSET + Long.BYTES;
    private static final int USAGE_OFFSET = KEY_OFFSET + Integer.BYTES;
    private static final int SIZE_BYTES = USAGE_OFFSET + 1;

    private RpmaDescriptor() {
    }

    /** The bits of {@code RPMA_MR_USAGE_...}. */
    static byte bits(final RcUsage... usages) {
        int bits = 0;
        for (final RcUsage usage : usages) {
            bits |= MemoryUsage.valueOf(usage.name()).value();
        }
        return (byte) bits;
    }

    static byte[] write(final RemoteMemory memory, final byte usageBits) {
        return ByteBuffer.allocate(SIZE_BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(memory.address())
            .putLong(memory.lengthBytes()).putInt(memory.key()).put(usageBits).array();
    }

    /** As librpma: more bytes may follow, and a descriptor without a usage is none. */
    static RemoteMemory read(final byte[] descriptor) {
        if (descriptor.length < SIZE_BYTES || descriptor[USAGE_OFFSET] == 0) {
            throw new IllegalArgumentException("a descriptor of " + descriptor.length + " bytes" +
                (descriptor.length < SIZE_BYTES ? ", at least " + SIZE_BYTES + " are needed" : " without a usage"));
        }
        final ByteBuffer bytes = ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN);
        return new RemoteMemory(bytes.getLong(0), bytes.getLong(LENGTH_OFFSET), bytes.getInt(KEY_OFFSET));
    }
}
