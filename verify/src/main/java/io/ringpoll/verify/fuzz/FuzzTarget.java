package io.ringpoll.verify.fuzz;

import java.util.List;

/** A parser of external input that the fuzzer feeds. Used by one thread. */
public interface FuzzTarget extends AutoCloseable {
    /**
     * The name of the input format.
     *
     * @return a name for messages and for {@code --target}
     */
    String name();

    /**
     * Valid inputs, which the fuzzer mutates.
     *
     * @return at least one
     */
    List<byte[]> examples();

    /**
     * Parses an input.
     *
     * @param input valid or invalid
     * @throws Refused          with one line, if it is invalid
     * @throws RuntimeException for a finding
     */
    void read(byte[] input) throws Refused;

    /**
     * The number of inputs per turn: higher for a cheap target.
     *
     * @return at least 1
     */
    default int inputsInTurn() {
        return 1;
    }

    @Override
    default void close() {
    }

    /** The correct response to an invalid input: one line that names the error. */
    final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        /**
         * Wraps a rejection.
         *
         * @param refusal exception of the parser
         */
        public Refused(final Throwable refusal) {
            super(refusal.getMessage(), refusal);
        }

        /**
         * Wraps a rejection with the text that the user sees.
         *
         * @param shown   text for the user
         * @param refusal exception of the parser
         */
        public Refused(final String shown, final Throwable refusal) {
            super(shown, refusal);
        }
    }
}
