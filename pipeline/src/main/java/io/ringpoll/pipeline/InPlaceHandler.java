package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.poller.PollerCounterSet;
import java.util.Set;

/**
 * Runs one handler on the polling thread: delivery, failures and lifecycle.
 *
 * <p>Belongs to the polling thread. Slots cannot be held or released early, because the poller waits for the handler.
 */
final class InPlaceHandler implements SlotControl {
    private final HandlerConfig config;
    private final HandlerCounters counters;
    private final HandlerContext context;
    private final HandlerFailures failures;
    private final Delivery delivery;
    private final InPlaceSource source;
    private boolean alive;

    InPlaceHandler(
        final HandlerConfig config, final CompletionSlab slab, final HandlerCounters counters, final HandlerContext context) {
        this.config = config;
        this.counters = counters;
        this.context = context;
        this.failures = new HandlerFailures(config, counters, context.errorLog());
        this.delivery = DeliveryClass.newDelivery(config, slab, failures, context);
        this.source = new InPlaceSource(slab, context);
        this.delivery.source(source);
    }

    String roleName() {
        return config.roleName();
    }

    Set<CompletionPath> paths() {
        return config.paths();
    }

    HandlerCounters counters() {
        return counters;
    }

    /** Makes this handler count the completions of some paths; before the start. */
    void countPaths(final Set<CompletionPath> paths, final PollerCounterSet pathCounters) {
        delivery.countPaths(paths, pathCounters);
    }

    void start() throws HandlerNotStarted {
        source.start();
        try {
            config.handler().onStart(this);
        } catch (final Throwable failure) {
            throw new HandlerNotStarted(config.roleName(), failure);
        }
        alive = true;
        counters.onState(HandlerCounters.STATE_RUNNING);
    }

    /**
     * Handles a whole batch.
     *
     * @param queueIndex of all its completions
     * @return the last sequence passed: the end of the batch unless the handler has halted
     */
    long handle(final long first, final long last, final int queueIndex) {
        source.beginBatch(queueIndex);
        try {
            counters.onBatchBegin(last - first + 1);
            counters.onBatchEnd(last, delivery.deliver(first, last));
            return last;
        } catch (final HandlerHalted halt) {
            counters.onHalt(halt.sequence(), halt.handled());
            die(halt.getCause());
            return halt.sequence();
        } catch (final Throwable failure) {
            failures.record(failure);
            die(failure);
            return first - 1;
        }
    }

    /** In nanoseconds; 0 for none. */
    long idleTimeoutNs() {
        return config.idleTimeoutNs();
    }

    /** Calls the handler after a time without slots, between two batches. */
    void onIdle() {
        if (alive) {
            try {
                config.handler().onIdle();
            } catch (final Throwable failure) {
                onIdleFailed(failure);
            }
        }
    }

    private void onIdleFailed(final Throwable failure) {
        try {
            failures.onFailure(failure, counters.position.get() - 1, 0);
        } catch (final HandlerHalted halt) {
            die(halt.getCause());
        }
    }

    /** Ends the handler if it has started and not halted. */
    void end() {
        if (alive) {
            shutDown();
            counters.onState(HandlerCounters.STATE_ENDED);
        }
    }

    @Override
    public void releaseThrough(final long sequence) {
        // The poller reuses the batch's slots when the handler returns, not before.
    }

    @Override
    public boolean hold(final long sequence) {
        return false;
    }

    @Override
    public WorkCompletion view(final long sequence, final WorkCompletion flyweight) {
        throw notHeld(sequence);
    }

    @Override
    public void release(final long sequence) {
        throw notHeld(sequence);
    }

    @Override
    public int held() {
        return 0;
    }

    private void die(final Throwable failure) {
        counters.onState(HandlerCounters.STATE_HALTED);
        context.onHandlerHalted(config.roleName(), failure);
        shutDown();
    }

    private void shutDown() {
        alive = false;
        try {
            config.handler().onShutdown();
        } catch (final Throwable failure) {
            failures.record(failure);
        }
        delivery.end();
    }

    private static IllegalStateException notHeld(final long sequence) {
        return new IllegalStateException("slot " + sequence + " is not held: handlers on the poller's thread hold none");
    }
}
