package io.ringpoll.verify.fuzz;

import java.util.List;

/** Something that reads what comes from outside. One thread. */
public interface FuzzTarget extends AutoCloseable {
    /**
     * What it reads.
     *
     * @return a name for people and for {@code --target}
     */
    String name();

    /**
     * Inputs that are right, which the fuzzer changes.
     *
     * @return at least one
     */
    List<byte[]> examples();

    /**
     * Reads an input.
     *
     * @param input right or wrong
     * @throws Refused          in one line, if it is wrong
     * @throws RuntimeException whatever else comes of it is a finding
     */
    void read(byte[] input) throws Refused;

    /**
     * How many inputs it gets in its turn: more if reading one costs little.
     *
     * @return at least 1
     */
    default int inputsInTurn() {
        return 1;
    }

    @Override
    default void close() {
    }

    /** What is right to say to a wrong input: one line, which names what is wrong. */
    final class Refused extends Exception {
        private static final long serialVersionUID = 1L;

        /**
         * Passes on what was said.
         *
         * @param refusal by whoever refused the input
         */
        public Refused(final Throwable refusal) {
            super(refusal.getMessage(), refusal);
        }

        /**
         * Passes on what was said, as it is shown.
         *
         * @param shown   to the user
         * @param refusal by whoever refused the input
         */
        public Refused(final String shown, final Throwable refusal) {
            super(shown, refusal);
        }
    }
}
