package io.ringpoll.internal.tuning.topology;

import java.util.Optional;

/**
 * The result of reading one file: its text, or the reason why there is none.
 *
 * @param path   the absolute path on the machine
 * @param state  whether it could be read
 * @param text   the file's text without surrounding white space; empty unless {@link State#PRESENT}
 * @param reason why it could not be read; empty if it was
 */
public record Reading(String path, State state, String text, String reason) {
    /** Whether a file could be read. */
    public enum State {
        /** It was read. */
        PRESENT,
        /** There is no such file: the kernel lacks the feature, or the machine the device. */
        ABSENT,
        /** The file exists, but this user may not read it. */
        DENIED,
        /** The file exists, but reading it failed for another reason. */
        FAILED
    }

    /**
     * Whether the file was read.
     *
     * @return true if there is text, empty text included
     */
    public boolean isPresent() {
        return state == State.PRESENT;
    }

    /**
     * The text, if the file was read and is not blank.
     *
     * @return the text
     */
    public Optional<String> value() {
        return text.isEmpty() ? Optional.empty() : Optional.of(text);
    }
}
