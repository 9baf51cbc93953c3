package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;

/**
 * What can be set about one handler and its thread; what is not set follows from the machine.
 *
 * <p>Used by one thread, while the pipeline is being built.
 */
public final class HandlerOptions {
    int cpu = ThreadPlacement.ANY_CPU;
    HandlerWait wait;
    WaitStrategy waitStrategy;
    FailurePolicy failurePolicy = FailurePolicy.CONTINUE;
    String roleName;

    HandlerOptions() {
    }

    /**
     * Pins the handler's thread.
     *
     * @param cpu number as in {@code /proc/cpuinfo}
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
     * Chooses a wait strategy of the user's own; it is signalled at each publication.
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
     * Names the handler's thread and counters.
     *
     * @param name for people
     * @return this
     */
    public HandlerOptions name(final String name) {
        this.roleName = name;
        return this;
    }
}
