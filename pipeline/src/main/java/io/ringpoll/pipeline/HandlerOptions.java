package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import java.util.List;
import java.util.Objects;

/**
 * What can be set about one handler and its thread; what is not set follows from the machine.
 *
 * <p>Used by one thread, while the pipeline is being described.
 */
public final class HandlerOptions {
    int cpu = ThreadPlacement.ANY_CPU;
    HandlerWait wait;
    WaitStrategy waitStrategy;
    FailurePolicy failurePolicy = FailurePolicy.CONTINUE;
    String roleName;
    int batchLimit;
    int maxHeld;
    List<String> after = List.of();

    HandlerOptions() {
    }

    /**
     * Names the handler's thread and counters; by default it is {@code ringpoll-} and the paths.
     *
     * @param name that no other handler of the pipeline has
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
     * Chooses how the handler waits; by default as {@link HandlerWait#forCores} says.
     *
     * @param wait one of the kinds that come with the pipeline
     * @return this
     */
    public HandlerOptions waitBy(final HandlerWait wait) {
        this.wait = wait;
        return this;
    }

    /**
     * Chooses a wait strategy of the user's own; it is signalled whenever there may be something to handle.
     *
     * @param strategy that no other handler uses
     * @return this
     */
    public HandlerOptions waitBy(final WaitStrategy strategy) {
        this.waitStrategy = strategy;
        return this;
    }

    /**
     * Chooses what happens when the handler throws; by default {@link FailurePolicy#CONTINUE}.
     *
     * @param policy asked on the handler's thread
     * @return this
     */
    public HandlerOptions onFailure(final FailurePolicy policy) {
        this.failurePolicy = policy;
        return this;
    }

    /**
     * Sets how many slots the handler passes at most before the poller gets them back, and with it the largest batch; by default
     * a quarter of the ring.
     *
     * @param slots at least 1 and at most the ring's size
     * @return this
     */
    public HandlerOptions batchLimit(final int slots) {
        this.batchLimit = slots;
        return this;
    }

    /**
     * Sets how many slots the handler may hold back by {@link SlotControl#hold}; by default none.
     *
     * @param slots at most half of the ring
     * @return this
     */
    public HandlerOptions maxHeld(final int slots) {
        this.maxHeld = slots;
        return this;
    }

    /**
     * Lets the handler see a slot only when others have passed it and hold it no more.
     *
     * @param names of handlers that have been described before
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
}
