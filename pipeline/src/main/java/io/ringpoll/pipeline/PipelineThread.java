package io.ringpoll.pipeline;

import java.util.function.BiFunction;

/**
 * A thread of a pipeline. It retains the slab from before its start until its end, so that the memory that it polls into or reads
 * is not freed.
 */
final class PipelineThread {
    private final Thread thread;
    private final CompletionSlab slab;

    /**
     * Creates a thread without starting it.
     *
     * @param factory creates a thread from its task and its name
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

    /** Whether the thread has been started; any thread. */
    boolean hasStarted() {
        return thread.getState() != Thread.State.NEW;
    }

    /**
     * Starts the thread, which reports to the gate.
     *
     * @throws PipelineStartException if no thread can be created; nothing is retained
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
