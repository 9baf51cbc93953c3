package io.ringpoll.rpma;

/** Looks at the texts that C is to resolve: one with a zero in it would be read only so far, and another address taken. */
final class AddressText {
    private AddressText() {
    }

    /**
     * Passes a text on that can be an address or a port.
     *
     * @param what it is, for the message
     * @param text of the user's
     * @return the text
     * @throws IllegalArgumentException if it holds a control character
     */
    static String require(final String what, final String text) {
        if (text.chars().anyMatch(Character::isISOControl)) {
            final String shown = text.chars().map(character -> Character.isISOControl(character) ? '?' : character)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append).toString();
            throw new IllegalArgumentException(what + " '" + shown + "' holds a control character");
        }
        return text;
    }
}
