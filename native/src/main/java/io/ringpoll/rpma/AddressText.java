package io.ringpoll.rpma;

import java.math.BigInteger;
import java.util.regex.Pattern;

/** Looks at the texts that C is to resolve: one with a zero in it would be read only so far, and another address taken. */
final class AddressText {
    private static final int MAX_PORT = 65_535;
    private static final Pattern NUMBER = Pattern.compile("[+-]?[0-9]+");

    private AddressText() {
    }

    /**
     * Checks that a text can be an address or a port.
     *
     * @param what name of the argument in the message
     * @param text from the user
     * @return the text
     * @throws IllegalArgumentException if it is null or empty, or holds a control character
     */
    static String require(final String what, final String text) {
        if (text == null || text.isEmpty()) {
            throw new IllegalArgumentException("the " + what + " is " + (text == null ? "null" : "empty"));
        }
        if (text.chars().anyMatch(Character::isISOControl)) {
            final String shown = text.chars().map(character -> Character.isISOControl(character) ? '?' : character)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
            throw new IllegalArgumentException(what + " '" + shown + "' holds a control character");
        }
        return text;
    }

    /**
     * Passes a port on. The C library's resolver would cut a number down to 16 bits, and another port be taken.
     *
     * @param port from the user: a number, or the name of a service
     * @return the port
     * @throws IllegalArgumentException if it is null or empty, holds a control character, or is a number outside 0 to 65535
     */
    static String requirePort(final String port) {
        final String text = require("port", port);
        if (NUMBER.matcher(text).matches() && !isPort(new BigInteger(text))) {
            throw new IllegalArgumentException("port '" + text + "' is not within 0 to " + MAX_PORT);
        }
        return text;
    }

    /**
     * As {@link #requirePort}, for a port to connect to.
     *
     * @param port from the user: a number, or the name of a service
     * @return the port
     * @throws IllegalArgumentException as {@link #requirePort}, or if it is 0
     */
    static String requireRemotePort(final String port) {
        if (isAnyPort(requirePort(port))) {
            throw new IllegalArgumentException(
                "port '" + port + "' cannot be connected to: use the port at which the other side listens");
        }
        return port;
    }

    /** Whether a port that {@link #requirePort} has passed on leaves the choice to the system. */
    static boolean isAnyPort(final String port) {
        return NUMBER.matcher(port).matches() && new BigInteger(port).signum() == 0;
    }

    private static boolean isPort(final BigInteger number) {
        return number.signum() >= 0 && number.compareTo(BigInteger.valueOf(MAX_PORT)) <= 0;
    }
}
