package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * The options of one handler and its thread; defaults depend on the machine.
 *
 * <p>Confined to the thread that builds the pipeline. The options are read when the handler is added; later changes have no
 * effect.
 */
public final class HandlerOptions {
    private String roleName;
    private int cpu = Pinning.ANY_CPU;
    private WaitMode wait;
    private WaitStrategy waitStrategy;
    private FailurePolicy failurePolicy = FailurePolicy.CONTINUE;
    private int maxBatch;
    private int maxHeld;
    private long idleTimeoutNs;
    private List<String> after = List.of();

    HandlerOptions() {
    }

    /**
     * Names the handler's thread and counters; the default is {@code ringpoll-} and the paths.
     *
     * @param name unique in the pipeline
     * @return this
     */
    public HandlerOptions name(final String name) {
        this.roleName = name;
        return this;
    }

    /**
     * Pins the handler's thread.
     *
     * @param cpu number as in {@code /proc/cpuinfo}; -1, the default, for any
     * @return this
     */
    public HandlerOptions cpu(final int cpu) {
        this.cpu = cpu;
        return this;
    }

    /**
     * Sets how the handler waits; the default is {@link WaitMode#forCores}.
     *
     * @param wait a predefined wait
     * @return this
     */
    public HandlerOptions waitStrategy(final WaitMode wait) {
        this.wait = wait;
        return this;
    }

    /**
     * Sets a user's wait strategy; it is signalled when slots are published. If it throws, or returns a later slot than the
     * dependent sequence, the pipeline halts.
     *
     * @param strategy not shared with another handler
     * @return this
     */
    public HandlerOptions waitStrategy(final WaitStrategy strategy) {
        this.waitStrategy = strategy;
        return this;
    }

    /**
     * Sets the failure policy; the default is {@link FailurePolicy#CONTINUE}.
     *
     * @param policy called on the handler's thread
     * @return this
     */
    public HandlerOptions failurePolicy(final FailurePolicy policy) {
        this.failurePolicy = policy;
        return this;
    }

    /**
     * Sets the maximum number of slots in a batch of the handler, after which they are released to the poller; the default is a
     * quarter of the ring.
     *
     * @param slots at least 1 and at most the ring's size
     * @return this
     */
    public HandlerOptions maxBatch(final int slots) {
        this.maxBatch = slots;
        return this;
    }

    /**
     * Sets the maximum number of slots that the handler may hold with {@link SlotControl#hold}; the default is none.
     *
     * @param slots at most half of the ring
     * @return this
     */
    public HandlerOptions maxHeld(final int slots) {
        this.maxHeld = slots;
        return this;
    }

    /**
     * Sets the time without slots, of any path, after which {@link HandlerLifecycle#onIdle} is called; by default it is not
     * called. A call may be late by the sleep of the handler's wait or the poller's idle strategy. A user's {@link WaitStrategy}
     * has its own time-out, which leads to the same call: it throws {@link com.lmax.disruptor.TimeoutException}.
     *
     * @param timeoutNs in nanoseconds; 0, the default, for no calls; rejected by the start if negative
     * @return this
     */
    public HandlerOptions idleTimeoutNs(final long timeoutNs) {
        this.idleTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Delivers a slot only after other handlers have passed and released it.
     *
     * @param names of handlers described earlier
     * @return this
     */
    public HandlerOptions after(final String... names) {
        Objects.requireNonNull(names, "the names of the handlers before this one are null");
        for (final String name : names) {
            Objects.requireNonNull(name, "a name among the names of the handlers before this one is null");
        }
        this.after = List.of(names);
        return this;
    }

    /** The configuration of a handler with the options as set now; later changes of the options have no effect on it. */
    HandlerConfig configure(final Set<CompletionPath> paths, final HandlerLifecycle handler, final boolean inBatches,
        final String predecessor, final String defaultName) {
        final List<String> before = new ArrayList<>(after);
        if (predecessor != null && !before.contains(predecessor)) {
            before.addFirst(predecessor);
        }
        return new HandlerConfig(roleName != null ? roleName : defaultName, paths, handler, inBatches, before, wait, waitStrategy,
            failurePolicy, cpu, maxBatch, maxHeld, idleTimeoutNs);
    }
}
