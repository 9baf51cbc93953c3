package io.ringpoll.bench.instructions;

import java.io.IOException;

/** A thread that repeats one kind of work until it is closed. Used by one thread, which is not the working one. */
interface Subject extends AutoCloseable {
    /** Whether the thread has repeated its work so often that the JIT compiler has had a reason to compile it. */
    boolean hasRepeated();

    /**
     * Traces the thread over whole units of work.
     *
     * @param stepper executes the thread
     * @param count   fewest instructions
     * @return without units if the thread has done no work
     * @throws IOException if the thread cannot be traced; the message has the reason
     */
    Steps trace(Stepper stepper, int count) throws IOException, InterruptedException;

    @Override
    void close();
}
