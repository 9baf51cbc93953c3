package io.ringpoll.tuning.topology;

import java.util.Optional;

/**
 * What came of reading one file: its text, or the reason why there is none.
 *
 * @param path   the file as it is named on the machine, absolute
 * @param state  whether it could be read
 * @param text   the file's text without white space at its ends; empty unless it was {@link State#PRESENT}
 * @param reason why it could not be read; empty if it was
 */
public record Reading(String path, State state, String text, String reason) {
    /** Whether a file could be read. */
    public enum State {
        /** It was read. */
        PRESENT,
        /** There is no such file: the kernel has not got this feature, or the machine not this device. */
        ABSENT,
        /** The file is there, and this user may not read it. */
        DENIED,
        /** The file is there, and reading it failed for another reason. */
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
