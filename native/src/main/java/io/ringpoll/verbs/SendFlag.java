package io.ringpoll.verbs;

import java.util.Objects;

/**
 * Flags of a request to a send queue: {@code enum ibv_send_flags}.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_post_send.3.html">ibv_post_send(3)</a>
 */
public enum SendFlag {
    /** It waits for the reads and atomics that were posted before it. */
    FENCE(1),
    /** It generates a completion also if it succeeds. */
    SIGNALED(1 << 1),
    /** The receiver's completion raises an event for a queue that asked for solicited ones. */
    SOLICITED(1 << 2),
    /** The call copies the data, which may be changed as soon as it returns. For sends and writes. */
    INLINE(1 << 3);

    private final int value;

    SendFlag(final int value) {
        this.value = value;
    }

    /** The value in C. */
    int value() {
        return value;
    }

    static int bits(final SendFlag... flags) {
        int bits = 0;
        for (final SendFlag flag : flags) {
            bits |= Objects.requireNonNull(flag, "one of the flags is null").value;
        }
        return bits;
    }
}
