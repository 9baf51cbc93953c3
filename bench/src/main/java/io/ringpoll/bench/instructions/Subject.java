package io.ringpoll.bench.instructions;

/** A running thread whose instructions are counted. Used by one thread, which is another one. */
interface Subject extends AutoCloseable {
    /** The name of its thread. */
    String thread();

    /** How far the thread has got, in units of its work; 0 if {@link #units} finds it out from the instructions. */
    long progress();

    /** The units of work that were done while the thread was traced. */
    double units(Steps steps);

    @Override
    void close();
}
