package io.ringpoll.verify.torture.processes;

import io.ringpoll.verify.torture.connections.Content;

/**
 * A message: its place in the sequence of its side defines kind, length, immediate data and content.
 *
 * @param kind      how it is sent
 * @param length    in bytes
 * @param immediate of the kinds that have it
 */
record Message(Kind kind, int length, int immediate) {
    private static final Kind[] KINDS = Kind.values();

    /** The ways to send a message. */
    enum Kind {
        SEND, SEND_WITH_IMMEDIATE, WRITE_WITH_IMMEDIATE, WRITE_THEN_SEND;

        boolean isWritten() {
            return this == WRITE_WITH_IMMEDIATE || this == WRITE_THEN_SEND;
        }

        boolean hasImmediate() {
            return this == SEND_WITH_IMMEDIATE || this == WRITE_WITH_IMMEDIATE;
        }
    }

    /** The n-th message of a side, from 1. */
    static Message of(final long number, final long sequence, final int maxBytes) {
        final long drawn = Content.mix(number + sequence);
        return new Message(KINDS[(int) (drawn & 3)], length(drawn >>> 2, maxBytes), (int) sequence);
    }

    /** Of all magnitudes up to the longest. */
    private static int length(final long drawn, final int maxBytes) {
        return switch ((int) (drawn & 7)) {
            case 0 -> 0;
            case 1 -> maxBytes;
            default -> {
                final int magnitude = 1 << (int) ((drawn >>> 3) % Integer.SIZE) % (Integer.SIZE - 1 -
                    Integer.numberOfLeadingZeros(maxBytes) + 1);
                yield (int) ((drawn >>> 8) % (magnitude + 1));
            }
        };
    }
}
