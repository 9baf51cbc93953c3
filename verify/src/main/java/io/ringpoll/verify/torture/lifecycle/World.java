package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;

/** The objects of a scene, shared by its operators and handlers; any thread, after the set-up. */
final class World {
    private final Shape shape;
    private final Violations violations;
    private final List<TorturedQueue> queues = new ArrayList<>();
    private final List<PipelineUnderTest> pipelines = new ArrayList<>();
    private final List<Thread> operators = new CopyOnWriteArrayList<>();
    private final Queue<HeldSlot> held = new ConcurrentLinkedQueue<>();
    private volatile PipelineGroup group;
    private volatile VerbsContext context;
    private volatile boolean running;

    World(final Shape shape, final Violations violations) {
        this.shape = shape;
        this.violations = violations;
    }

    Shape shape() {
        return shape;
    }

    Violations violations() {
        return violations;
    }

    List<TorturedQueue> queues() {
        return queues;
    }

    List<PipelineUnderTest> pipelines() {
        return pipelines;
    }

    List<Thread> operators() {
        return operators;
    }

    /** The group of the pipelines; null if there is one pipeline. */
    PipelineGroup group() {
        return group;
    }

    void formed(final PipelineGroup formed) {
        group = formed;
    }

    /** The device of the scene's connections; null if there are none. */
    VerbsContext context() {
        return context;
    }

    void opened(final VerbsContext opened) {
        context = opened;
    }

    /** Whether all pipelines have started and the end has not begun. */
    boolean isRunning() {
        return running;
    }

    void running(final boolean now) {
        running = now;
    }

    /** Records a completion of its queue. */
    TorturedQueue onCompletion(final WorkCompletion completion, final CompletionPath path, final String where) {
        final int number = ScriptedQueue.numberOf(completion.workRequestId());
        final int byQueuePair = completion.queuePairNumber() - SyntheticQueue.FIRST_QUEUE_PAIR;
        final int index = number > 0 ? number : byQueuePair;
        if (index < 1 || index > queues.size()) {
            violations.add("a completion of nobody's work request, " + completion + ", at " + where);
            return null;
        }
        final TorturedQueue queue = queues.get(index - 1);
        queue.onCompletion(completion, path, where);
        return queue;
    }

    void keep(final HeldSlot slot) {
        held.add(slot);
    }

    /** Releases up to so many held slots. */
    void release(final int most) {
        for (int i = 0; i < most; i++) {
            final HeldSlot slot = held.poll();
            if (slot == null) {
                return;
            }
            slot.release(violations);
        }
    }
}
