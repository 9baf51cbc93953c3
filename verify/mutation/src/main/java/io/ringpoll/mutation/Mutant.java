package io.ringpoll.mutation;

/**
 * One change of one instruction, and what the tests made of it.
 *
 * @param key     class, method, change and source line; the same whatever is inserted above it in the file
 * @param outcome of the tests
 */
record Mutant(String key, Outcome outcome) {
    /** What the tests made of a mutant. */
    enum Outcome {
        /** A test failed, did not end in time, or lost its JVM. */
        KILLED,
        /** All tests that run the line passed. */
        SURVIVED,
        /** No test runs the line. */
        NOT_COVERED
    }

    boolean isKilled() {
        return outcome == Outcome.KILLED;
    }
}
