package io.ringpoll.verify.run;

/**
 * The identities of payloads: what both sides can work out without telling each other.
 *
 * <p>Stateless.
 */
final class Identities {
    private static final int SESSION_SHIFT = 48;

    private Identities() {
    }

    /** Of what a cell holds before the first write. */
    static long initial(final long seed, final int session, final int cell) {
        return Payload.mix(seed ^ (long) session << SESSION_SHIFT ^ ~cell);
    }

    /** Of the n-th write of a session. */
    static long write(final long seed, final int session, final long number) {
        return Payload.mix(seed + 1 ^ (long) session << SESSION_SHIFT ^ number);
    }

    /** Of the n-th message of a session, sent or written with immediate data. */
    static long message(final long seed, final int session, final long number) {
        return Payload.mix(seed + 2 ^ (long) session << SESSION_SHIFT ^ number);
    }
}
