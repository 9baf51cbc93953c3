package io.ringpoll.pipeline;

import java.util.function.BiFunction;

/**
 * A thread of a pipeline. It retains the slab from before its start until its work is over, so that nobody else frees the memory
 * that it polls into or reads.
 */
final class PipelineThread {
    private final Thread thread;
    private final CompletionSlab slab;

    /**
     * Creates a thread that has not been started.
     *
     * @param factory makes a thread from its work and its name
     */
    PipelineThread(
        final String name, final CompletionSlab slab, final Runnable work,
        final BiFunction<Runnable, String, Thread> factory) {
        this.slab = slab;
        this.thread = factory.apply(() -> run(work), name);
        thread.setDaemon(true);
    }

    Thread thread() {
        return thread;
    }

    /** Whether the operating system has been given the thread; any thread may ask. */
    boolean hasStarted() {
        return thread.getState() != Thread.State.NEW;
    }

    /**
     * Starts the thread, which reports to the gate.
     *
     * @throws PipelineStartException if there is no thread to be had; nothing is retained then
     */
    void start(final StartGate gate) {
        gate.expect(thread.getName());
        slab.retain();
        try {
            thread.start();
        } catch (final RuntimeException | Error failure) {
            slab.release();
            throw new PipelineStartException(
                "thread " + thread.getName() + " did not start: " + ErrorRecorder.describe(failure), failure);
        }
    }

    private void run(final Runnable work) {
        try {
            work.run();
        } finally {
            slab.release();
        }
    }
}
