package io.ringpoll.internal.transport;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.poller.EventDrivenIdle;
import org.agrona.concurrent.IdleStrategy;

/**
 * The configuration of a node's poller and handlers. Nodes share a poller if they are configured to and all settings are equal.
 *
 * @param shared      whether nodes of this process share a poller
 * @param cpu         to which the polling thread is pinned; -1 for none
 * @param idle        wait of the poller
 * @param spinNs      longest time that a blocking poller spins before it sleeps, in nanoseconds
 * @param handlers    threads of the handlers
 * @param handlerWait wait of handlers with threads of their own
 */
public record PollerConfig(boolean shared, int cpu, WaitMode idle, long spinNs, HandlerThreads handlers,
    WaitMode handlerWait) {
    /**
     * Checks the settings, and clears those without effect.
     *
     * @throws IllegalArgumentException if a shared poller has handlers on other threads: a leaving node could not determine when
     *     they have finished with it
     */
    public PollerConfig {
        if (shared && handlers != HandlerThreads.POLLER) {
            throw new IllegalArgumentException("a shared poller runs the handlers on its own thread");
        }
        // Settings without effect must not make configurations unequal.
        spinNs = idle == WaitMode.BLOCK ? spinNs : 0;
        handlerWait = handlers == HandlerThreads.POLLER ? WaitMode.BLOCK : handlerWait;
    }

    /** The idle strategy of the poller. */
    IdleStrategy newIdleStrategy() {
        return idle == WaitMode.BLOCK ?
            new EventDrivenIdle(spinNs, EventDrivenIdle.DEFAULT_MAX_SLEEP_NS) : idle.newIdleStrategy();
    }

    /**
     * A poller for one node that sleeps while idle.
     *
     * @param handlers threads of the handlers; they block while idle if they have threads of their own
     * @return the configuration
     */
    public static PollerConfig own(final HandlerThreads handlers) {
        return new PollerConfig(
            false, -1, WaitMode.BLOCK, EventDrivenIdle.DEFAULT_SPIN_NS, handlers, WaitMode.BLOCK);
    }
}
