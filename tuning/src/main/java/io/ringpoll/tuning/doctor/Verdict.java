package io.ringpoll.tuning.doctor;

/** What a check found, the worst last. */
public enum Verdict {
    /** As it should be. */
    OK("ok"),
    /** The reading is not to be had here; the reason says why. */
    CANNOT_TELL("cannot tell"),
    /** It costs some completions some time. */
    WARNING("warning"),
    /** It costs all of them, or keeps ringpoll from running. */
    BAD("bad");

    private final String text;

    Verdict(final String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
