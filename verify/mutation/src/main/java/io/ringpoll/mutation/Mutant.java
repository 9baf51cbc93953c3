package io.ringpoll.mutation;

import java.util.Locale;

/**
 * A change of one instruction, with the result of the tests.
 *
 * @param key     class, method, change and source line; independent of insertions above it in the file
 * @param outcome result of the tests
 */
record Mutant(String key, Outcome outcome) {
    /** The results of the tests for a mutant. */
    enum Outcome {
        /** A test failed. */
        KILLED,
        /** The tests did not end in time: the change makes them hang, or the machine is too slow for them. */
        TIMED_OUT,
        /** The JVM of the tests crashed. */
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
