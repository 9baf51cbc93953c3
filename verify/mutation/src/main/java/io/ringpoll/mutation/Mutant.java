package io.ringpoll.mutation;

import java.util.Locale;

/**
 * One change of one instruction, and what the tests made of it.
 *
 * @param key     class, method, change and source line; the same whatever is inserted above it in the file
 * @param outcome of the tests
 */
record Mutant(String key, Outcome outcome) {
    /** What the tests made of a mutant. */
    enum Outcome {
        /** A test failed. */
        KILLED,
        /** The tests did not end in time: the change hangs them, or the machine is too slow for them. */
        TIMED_OUT,
        /** The tests lost their JVM. */
        CRASHED,
        /** All tests that run the line passed. */
        SURVIVED,
        /** No test runs the line. */
        NOT_COVERED;

        String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', ' ');
        }
    }

    boolean isKilled() {
        return outcome != Outcome.SURVIVED && outcome != Outcome.NOT_COVERED;
    }
}
