package io.ringpoll.verbs;

import java.util.Objects;

/**
 * What a device may do with a memory region: {@code enum ibv_access_flags}. Local reads are always permitted.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_reg_mr.3.html">ibv_reg_mr(3)</a>
 */
public enum AccessFlag {
    /** The device writes to it: receives, and the results of reads and atomics. */
    LOCAL_WRITE(1),
    /** The other side writes to it; needs {@link #LOCAL_WRITE}. */
    REMOTE_WRITE(1 << 1),
    /** The other side reads it. */
    REMOTE_READ(1 << 2),
    /** The other side makes atomic operations on it; needs {@link #LOCAL_WRITE}. */
    REMOTE_ATOMIC(1 << 3),
    /** Its pages are not pinned, but made present when they are used. */
    ON_DEMAND(1 << 6),
    /** It is in huge pages, which an on-demand region must state. */
    HUGE_PAGES(1 << 7),
    /** Writes of the device may pass each other; ignored by devices that do not have it. */
    RELAXED_ORDERING(1 << 20);

    /** Flags that libibverbs may ignore ({@code IBV_ACCESS_OPTIONAL_RANGE}); they need a newer function. */
    static final int OPTIONAL = 0x3FF0_0000;

    private final int value;

    AccessFlag(final int value) {
        this.value = value;
    }

    /** The value in C. */
    int value() {
        return value;
    }

    static int bits(final AccessFlag... flags) {
        int bits = 0;
        for (final AccessFlag flag : flags) {
            bits |= Objects.requireNonNull(flag, "one of the flags is null").value;
        }
        if ((bits & (REMOTE_WRITE.value | REMOTE_ATOMIC.value)) != 0 && (bits & LOCAL_WRITE.value) == 0) {
            throw new IllegalArgumentException("REMOTE_WRITE and REMOTE_ATOMIC need LOCAL_WRITE, too");
        }
        return bits;
    }
}
