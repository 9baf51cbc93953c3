package io.ringpoll.internal.tuning.doctor;

/** The size of a setting's effect on completions, in descending order: findings are printed in this order. */
public enum Effect {
    /** Stalls of milliseconds, or every completion is affected. */
    HIGH("high"),
    /** Stalls of tens of microseconds, regularly. */
    MEDIUM("medium"),
    /** Some microseconds, or rarely, or only for a diagnosis. */
    LOW("low");

    private final String text;

    Effect(final String text) {
        this.text = text;
    }

    @Override
    public String toString() {
        return text;
    }
}
