package io.ringpoll.rpma;

import java.util.Objects;

/**
 * The operations that a region of local memory is registered for; the device refuses all others.
 *
 * @see <a href="https://manpages.ubuntu.com/manpages/noble/man3/rpma_mr_reg.3.html">rpma_mr_reg(3)</a>
 */
public enum MemoryUsage {
    /** The peer may read it. */
    READ_SOURCE(1),
    /** Reads of the peer's memory may end here. On iWARP the peer may write it, too. */
    READ_DESTINATION(1 << 1),
    /** Writes to the peer's memory may begin here. */
    WRITE_SOURCE(1 << 2),
    /** The peer may write it. */
    WRITE_DESTINATION(1 << 3),
    /** The peer may flush it until the data is visible. librpma flushes by a read, so the peer may also read it. */
    FLUSH_VISIBILITY(1 << 4),
    /** The peer may flush it down to the persistent domain, and read it, as with {@link #FLUSH_VISIBILITY}. */
    FLUSH_PERSISTENT(1 << 5),
    /** Messages may be sent from here. */
    SEND(1 << 6),
    /** Messages may be received here. */
    RECEIVE(1 << 7);

    private final int value;

    MemoryUsage(final int value) {
        this.value = value;
    }

    /**
     * The value of the C constant.
     *
     * @return the bit {@code RPMA_MR_USAGE_...}
     */
    public int value() {
        return value;
    }

    static int bits(final MemoryUsage... usages) {
        int bits = 0;
        for (final MemoryUsage usage : usages) {
            Objects.requireNonNull(usage, "a usage among the usages is null");
            bits |= usage.value;
        }
        if (bits == 0) {
            throw new IllegalArgumentException("a memory region needs at least one usage");
        }
        return bits;
    }
}
