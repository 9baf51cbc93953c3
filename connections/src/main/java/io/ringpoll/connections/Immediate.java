package io.ringpoll.connections;

/**
 * The immediate data of each send.
 * <pre>
 *   31     24 23     16 15                 0
 *   |  kind  |   0     | returned credits  |
 * </pre>
 */
final class Immediate {
    /** A message of the user. */
    static final int MESSAGE = 0;
    /** An empty message that only returns credits. */
    static final int CREDITS = 1;
    /** An empty message, the last one of a connection. */
    static final int GOODBYE = 2;

    private static final int KIND_SHIFT = 24;
    private static final int CREDITS_MASK = 0xFFFF;

    private Immediate() {
    }

    static int of(final int kind, final int credits) {
        return kind << KIND_SHIFT | credits;
    }

    /** The kind; not one of the constants if the data is invalid. */
    static int kind(final int immediate) {
        return (immediate & ~CREDITS_MASK) >>> KIND_SHIFT | immediate & 0xFF_0000;
    }

    /** Whether the kind is {@link #MESSAGE}. */
    static boolean isMessage(final int immediate) {
        return (immediate & ~CREDITS_MASK) == 0;
    }

    static int credits(final int immediate) {
        return immediate & CREDITS_MASK;
    }
}
