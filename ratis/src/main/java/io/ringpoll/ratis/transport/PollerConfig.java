package io.ringpoll.ratis.transport;

import io.ringpoll.pipeline.HandlerWait;
import io.ringpoll.poller.EventDrivenIdle;

/**
 * How a node's completion queues are polled, and where its handlers run. Nodes share a poller if they want to and are equal in
 * all of this.
 *
 * @param shared      whether nodes of this process have one poller together
 * @param cpu         that the polling thread is pinned to; -1 for any
 * @param idle        what the poller does while nothing comes
 * @param spinNs      how long an event-driven poller spins before it sleeps, in nanoseconds
 * @param handlers    where they run
 * @param handlerWait of handlers with threads of their own
 */
public record PollerConfig(boolean shared, int cpu, PollerIdle idle, long spinNs, HandlerThreads handlers,
    HandlerWait handlerWait) {
    /**
     * Checks the settings, and drops those that mean nothing beside others.
     *
     * @throws IllegalArgumentException if a shared poller is to have handlers on other threads: a node that leaves could not know
     *     when they have left it
     */
    public PollerConfig {
        if (shared && handlers != HandlerThreads.POLLER) {
            throw new IllegalArgumentException("a poller that nodes share runs their handlers on its own thread");
        }
        // What means nothing makes no difference.
        spinNs = idle == PollerIdle.EVENT_DRIVEN ? spinNs : 0;
        handlerWait = handlers == HandlerThreads.POLLER ? HandlerWait.BLOCK : handlerWait;
    }

    /**
     * A poller of a node's own that sleeps while nothing comes.
     *
     * @param handlers where they run; they block if they have threads of their own
     * @return the settings
     */
    public static PollerConfig own(final HandlerThreads handlers) {
        return new PollerConfig(
            false, -1, PollerIdle.EVENT_DRIVEN, EventDrivenIdle.DEFAULT_SPIN_NS, handlers, HandlerWait.BLOCK);
    }
}
