package io.ringpoll.pipeline;

import io.ringpoll.verbs.WorkCompletion;

/**
 * One handler that runs on the polling thread: what it takes of each batch, its failures, its life.
 *
 * <p>Belongs to the polling thread. It holds no slots and gives none back early, since the poller waits for it anyway.
 */
final class InPlaceHandler implements SlotControl {
    private final HandlerSpec spec;
    private final HandlerCounters counters;
    private final HandlerContext context;
    private final HandlerFailures failures;
    private final Delivery delivery;
    private boolean alive;

    InPlaceHandler(
        final HandlerSpec spec, final CompletionSlab slab, final HandlerCounters counters, final HandlerContext context) {
        this.spec = spec;
        this.counters = counters;
        this.context = context;
        this.failures = new HandlerFailures(spec, counters, context.errorLog());
        this.delivery = DeliveryClass.newDelivery(spec, slab, failures, context);
    }

    String roleName() {
        return spec.roleName();
    }

    HandlerCounters counters() {
        return counters;
    }

    void start() throws HandlerNotStarted {
        try {
            spec.handler().onStart(this);
        } catch (final Throwable failure) {
            throw new HandlerNotStarted(spec.roleName(), failure);
        }
        alive = true;
        counters.state.setRelease(HandlerCounters.STATE_RUNNING);
    }

    /**
     * Handles a batch to its end.
     *
     * @return the last sequence that it has passed: the batch's, unless it has died
     */
    long handle(final long first, final long last) {
        try {
            counters.onBatchBegin(last - first + 1);
            counters.onBatchEnd(last, delivery.deliver(first, last));
            return last;
        } catch (final HandlerHalted halt) {
            counters.onBatchEnd(halt.sequence(), halt.handled());
            die(halt.getCause());
            return halt.sequence();
        } catch (final Throwable failure) {
            failures.record(failure);
            die(failure);
            return first - 1;
        }
    }

    /** Ends it, if it has started and not died. */
    void end() {
        if (alive) {
            shutDown();
            counters.state.setRelease(HandlerCounters.STATE_ENDED);
        }
    }

    @Override
    public void releaseThrough(final long sequence) {
        // The poller gets the batch's slots back when it is through, and polls no sooner.
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
    public void giveBack(final long sequence) {
        throw notHeld(sequence);
    }

    @Override
    public int held() {
        return 0;
    }

    private void die(final Throwable failure) {
        counters.state.setRelease(HandlerCounters.STATE_DIED);
        context.onHandlerDied(spec.roleName(), failure);
        shutDown();
    }

    private void shutDown() {
        alive = false;
        try {
            spec.handler().onShutdown();
        } catch (final Throwable failure) {
            failures.record(failure);
        }
        delivery.end();
    }

    private static IllegalStateException notHeld(final long sequence) {
        return new IllegalStateException("slot " + sequence + " is not held: handlers on the poller's thread hold none");
    }
}
