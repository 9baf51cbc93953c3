package io.ringpoll.internal.tuning.doctor;

/** The result of a check, in ascending order of severity. */
public enum Verdict {
    /** As recommended. */
    OK("ok"),
    /** The value cannot be read; the reading states the reason. */
    UNKNOWN("unknown"),
    /** Delays some completions. */
    WARNING("warning"),
    /** Delays all completions, or prevents ringpoll from running. */
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
