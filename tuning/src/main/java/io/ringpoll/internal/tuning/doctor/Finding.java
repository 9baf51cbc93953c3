package io.ringpoll.internal.tuning.doctor;

/**
 * The result of one check: verdict, reading and remedy. Immutable.
 *
 * @param verdict the result
 * @param reading the value read, or the reason why it could not be read
 * @param command the command or other action that corrects it; empty if none is needed
 */
public record Finding(Verdict verdict, String reading, String command) {
    /** The same with another command. */
    Finding with(final String other) {
        return new Finding(verdict, reading, other);
    }

    static Finding ok(final String reading) {
        return new Finding(Verdict.OK, reading, "");
    }

    static Finding unknown(final String reason) {
        return new Finding(Verdict.UNKNOWN, reason, "");
    }

    static Finding unknown(final String reason, final String command) {
        return new Finding(Verdict.UNKNOWN, reason, command);
    }

    static Finding warning(final String reading, final String command) {
        return new Finding(Verdict.WARNING, reading, command);
    }

    static Finding bad(final String reading, final String command) {
        return new Finding(Verdict.BAD, reading, command);
    }
}
