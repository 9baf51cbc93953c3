package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WorkCompletion;
import java.util.SplittableRandom;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A completion queue of a scene: whether a pipeline may poll it at the moment, and what it has given.
 *
 * <p>Who adds, removes or closes it holds its {@link #lock()}, so that the model knows the order; everything else is concurrent.
 */
abstract class TorturedQueue implements AutoCloseable {
    private final int number;
    private final ReentrantLock lock = new ReentrantLock();
    /** Guarded by the lock: who has it, or null. */
    private PipelineUnderTest owner;
    /** Guarded by the lock: whether the group gave it to its owner. */
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

    /** What is given to pipelines. */
    abstract CompletionQueue queue();

    /** From now on a pipeline may poll it. */
    abstract void attach();

    /** From now on nobody may poll it; checked from here on. */
    abstract void detach();

    /** Brings some completions about; any thread. */
    abstract void feed(SplittableRandom random);

    /** A handler got one of its completions, or somebody took it out of the queue; any thread. */
    abstract void onCompletion(WorkCompletion completion, CompletionPath path, String where);

    /** Whether it can still be added. */
    boolean isUsable() {
        return true;
    }

    /** Nothing more is fed; the pipelines may still run. */
    void stopFeeding() {
    }

    /** All pipelines have ended: takes what is left, so that {@link #missing()} is final. */
    abstract void settle();

    /** Completions that the queue has given, or owes, and that nobody got. */
    abstract long missing();

    /** How many of its completions somebody got. */
    abstract long ended();

    @Override
    public abstract void close();
}
