package io.ringpoll.internal.pipeline;

import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.internal.poller.MemoryFault;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;

/**
 * The counters of a set of connections at one of its pollers, written by the polling thread from time to time: what is counted
 * is counted elsewhere.
 */
public final class SetCounters {
    private final AtomicCounter connections;
    private final AtomicCounter rejectedRequests;
    private final AtomicCounter listenerExceptions;
    private final AtomicCounter refusedSends;

    /**
     * Allocates the counters.
     *
     * @param counters manager of a pipeline
     * @param owner    name of the set
     */
    public SetCounters(final CountersManager counters, final String owner) {
        connections = CounterType.SET_CONNECTIONS.allocate(counters, owner);
        rejectedRequests = CounterType.SET_REJECTED_REQUESTS.allocate(counters, owner);
        listenerExceptions = CounterType.SET_LISTENER_EXCEPTIONS.allocate(counters, owner);
        refusedSends = CounterType.SET_REFUSED_SENDS.allocate(counters, owner);
    }

    /**
     * Stores the values, unless the memory of the counters is gone; polling thread.
     *
     * @param connectionsNow connections of this poller
     * @param rejected       rejected requests of the set, at its first poller, and 0 at the others
     * @param exceptions     exceptions of the set's listener, at its first poller, and 0 at the others
     * @param refused        sends of this poller that were refused for lack of credit
     */
    public void publish(final long connectionsNow, final long rejected, final long exceptions, final long refused) {
        try {
            connections.setRelease(connectionsNow);
            rejectedRequests.setRelease(rejected);
            listenerExceptions.setRelease(exceptions);
            refusedSends.setRelease(refused);
            MemoryFault.check();
        } catch (final InternalError truncatedFile) {
            // Not shown any more.
            return;
        }
    }
}
