package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.SlotControl;
import java.util.SplittableRandom;

/**
 * A handler of a scene: records its completions, posts again, holds slots, throws, interrupts itself, and calls the pipeline.
 *
 * <p>Owned by its handler thread; verified after that thread has ended.
 */
final class TortureHandler implements CompletionHandler {
    private static final int SLOW_ONE_IN = 2000;
    private static final int SLOW_SPINS = 20_000;
    private static final int HOLD_ONE_IN = 7;
    private static final int RELEASE_ONE_IN = 11;

    private final String name;
    /** The path with recorded completions; null for an observer. */
    private final CompletionPath path;
    private final World world;
    private final Shape shape;
    private final SplittableRandom random;
    private final Operator operator;
    private SlotControl slots;
    private long lastSequence = -1;
    private boolean midBatch;
    private boolean faulted;
    private boolean halted;
    private int starts;
    private int shutdowns;

    TortureHandler(
        final String name, final CompletionPath path, final World world, final SplittableRandom random, final Operator operator) {
        this.name = name;
        this.path = path;
        this.world = world;
        this.shape = world.shape();
        this.random = random;
        this.operator = operator;
    }

    @Override
    public void onStart(final SlotControl control) {
        if (shape.hook() == Shape.Hook.ON_START && path == CompletionPath.ERROR) {
            throw new Planned();
        }
        slots = control;
        starts++;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        if (sequence <= lastSequence) {
            world.violations().add(name + ": sequence " + sequence + " after " + lastSequence);
        }
        lastSequence = sequence;
        midBatch = !endOfBatch;
        if (path != null) {
            record(completion, sequence);
        }
        if (random.nextInt(SLOW_ONE_IN) == 0) {
            for (int i = 0; i < SLOW_SPINS; i++) {
                Thread.onSpinWait();
            }
        }
        if (isTime(shape.interrupting())) {
            Thread.currentThread().interrupt();
        }
        if (isTime(shape.handlerCalls())) {
            operator.call();
        }
        if (isTime(shape.throwing())) {
            halted = shape.halting();
            throw new Planned();
        }
    }

    private void record(final WorkCompletion completion, final long sequence) {
        final TorturedQueue queue = world.onCompletion(completion, path, name);
        final long id = completion.workRequestId();
        if (shape.maxHeld() > 0) {
            if (random.nextInt(HOLD_ONE_IN) == 0 && slots.hold(sequence)) {
                world.keep(new HeldSlot(slots, sequence, id));
            } else if (random.nextInt(RELEASE_ONE_IN) == 0) {
                slots.releaseThrough(sequence);
            }
        }
        if (queue instanceof final EndpointQueue endpointQueue && random.nextInt(4) != 0) {
            endpointQueue.endpoint().repost(path, random);
        }
    }

    @Override
    public void onIdle() {
        if (isTime(shape.handlerCalls())) {
            operator.call();
        }
        if (isTime(shape.throwing())) {
            halted = shape.halting();
            throw new Planned();
        }
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        faulted = true;
        world.violations().expect(code < 0, name + ": fault code " + code + " of " + queueName);
        if (shape.hook() == Shape.Hook.ON_QUEUE_FAULT) {
            halted = shape.halting();
            throw new Planned();
        }
    }

    @Override
    public void onShutdown() {
        shutdowns++;
        if (shape.hook() == Shape.Hook.ON_SHUTDOWN) {
            throw new Planned();
        }
    }

    /** After its thread has ended. */
    void judge() {
        world.violations().expect(shutdowns == starts,
            name + ": onStart ran " + starts + " times and onShutdown " + shutdowns + " times");
        world.violations().expect(!midBatch || halted || faulted,
            name + ": the last completion, of sequence " + lastSequence + ", was not at the end of a batch");
    }

    private boolean isTime(final int oneIn) {
        return oneIn > 0 && random.nextInt(oneIn) == 0;
    }

    /** The exception of the hooks of a scene. */
    static final class Planned extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Planned() {
            super("planned by the scene", null, false, false);
        }
    }
}
