package io.ringpoll.tuning.doctor;

/**
 * What one examination found.
 *
 * @param verdict the result
 * @param reading what was read, or why it could not be
 * @param command the command that changes it, or what else to do; empty if nothing is to be done
 */
public record Finding(Verdict verdict, String reading, String command) {
    static Finding ok(final String reading) {
        return new Finding(Verdict.OK, reading, "");
    }

    static Finding cannotTell(final String reason) {
        return new Finding(Verdict.CANNOT_TELL, reason, "");
    }

    static Finding cannotTell(final String reason, final String command) {
        return new Finding(Verdict.CANNOT_TELL, reason, command);
    }

    static Finding warning(final String reading, final String command) {
        return new Finding(Verdict.WARNING, reading, command);
    }

    static Finding bad(final String reading, final String command) {
        return new Finding(Verdict.BAD, reading, command);
    }
}
