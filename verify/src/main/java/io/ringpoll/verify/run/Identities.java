package io.ringpoll.verify.run;

/**
 * The identities of payloads, which both sides compute independently.
 *
 * <p>Stateless.
 */
final class Identities {
    private static final int SESSION_SHIFT = 48;

    private Identities() {
    }

    /** The identity of the initial content of a cell. */
    static long initial(final long seed, final int session, final int cell) {
        return Payload.mix(seed ^ (long) session << SESSION_SHIFT ^ ~cell);
    }

    /** The identity of the n-th write of a session. */
    static long write(final long seed, final int session, final long number) {
        return Payload.mix(seed + 1 ^ (long) session << SESSION_SHIFT ^ number);
    }

    /** The identity of the n-th message of a session, sent or written with immediate data. */
    static long message(final long seed, final int session, final long number) {
        return Payload.mix(seed + 2 ^ (long) session << SESSION_SHIFT ^ number);
    }
}
