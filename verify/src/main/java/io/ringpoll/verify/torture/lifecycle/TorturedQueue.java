package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A completion queue of a scene: whether a pipeline may poll it at the moment, and its returned completions.
 *
 * <p>A thread that adds, removes or closes it holds its {@link #lock()}, so that the model has the order; everything else is
 * concurrent.
 */
abstract class TorturedQueue implements AutoCloseable {
    private final int number;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock: its pipeline, or null. */
    private PipelineUnderTest owner;
    /** Guarded by the lock: whether the group chose its pipeline. */
    private boolean byGroup;

    TorturedQueue(final int number) {
        this.number = number;
    }

    int number() {
        return number;
    }

    ReentrantLock lock() {
        return lock;
    }

    PipelineUnderTest owner() {
        return owner;
    }

    boolean isByGroup() {
        return byGroup;
    }

    void ownedBy(final PipelineUnderTest pipeline, final boolean givenByGroup) {
        owner = pipeline;
        byGroup = givenByGroup;
    }

    /** The queue object for pipelines. */
    abstract CompletionQueue queue();

    /** From now on a pipeline may poll it. */
    abstract void attach();

    /** From now on no thread may poll it; verified from here on. */
    abstract void detach();

    /** Produces some completions; any thread. */
    abstract void feed(SplittableRandom random);

    /** A handler, or the drain of the queue, received one of its completions; any thread. */
    abstract void onCompletion(WorkCompletion completion, CompletionPath path, String where);

    /** Whether it can still be added. */
    boolean isUsable() {
        return true;
    }

    /** No more completions are produced; the pipelines may still run. */
    void stopFeeding() {
    }

    /** All pipelines have ended: drains the queue, so that {@link #missing()} is final. */
    abstract void settle();

    /** Completions that the queue has returned, or must return, and that were not received. */
    abstract long missing();

    /** The missing completions, for a violation. */
    String describeMissing() {
        return queue().name() + ": " + missing();
    }

    /** The number of its received completions. */
    abstract long ended();

    @Override
    public abstract void close();
}
