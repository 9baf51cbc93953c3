package io.ringpoll.connections;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.pipeline.Pipeline;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;
import org.agrona.concurrent.Agent;

/**
 * The pollers of a set: chooses one for each connection, and waits for them. A waiting thread that invokes agents makes their
 * duty cycles, because no other thread does.
 *
 * <p>Any thread may call.
 */
final class ConnectionPollers {
    /** Pause of a waiting thread between two duty cycles without work. */
    private static final long PARK_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Time without a duty cycle after which a closing thread makes them itself. */
    private static final long IDLE_NS = TimeUnit.SECONDS.toNanos(1);

    private final List<ConnectionPoller> all;

    ConnectionPollers(final List<ConnectionPoller> all) {
        this.all = all;
    }

    ConnectionPoller get(final int index) {
        return all.get(index);
    }

    /** Sets the running pipelines. */
    void begin(final List<Pipeline> pipelines) {
        for (int i = 0; i < all.size(); i++) {
            all.get(i).begin(pipelines.get(i));
        }
    }

    /** The agents of a set, by index; empty if there are polling threads. */
    List<Agent> agents(final ConnectionSet set) {
        return all.stream().filter(poller -> poller.agent() != null)
            .map(poller -> (Agent) new ConnectionAgent(set, poller)).toList();
    }

    /** Whether the calling thread is in a callback or task, so that it cannot wait. */
    boolean areInCallback() {
        for (final ConnectionPoller poller : all) {
            if (poller.isInCallback()) {
                return true;
            }
        }
        return false;
    }

    /** Whether the calling thread invokes an agent. */
    boolean areInvoked() {
        for (final ConnectionPoller poller : all) {
            if (poller.isInvoker()) {
                return true;
            }
        }
        return false;
    }

    /** Makes a duty cycle of each agent that the calling thread invokes; returns whether there was work. */
    boolean makeOwnWork() {
        boolean worked = false;
        for (final ConnectionPoller poller : all) {
            worked |= poller.makeOwnWork();
        }
        return worked;
    }

    /** Makes duty cycles until a condition holds, at most until a deadline or an interrupt. */
    void makeOwnWorkUntil(final BooleanSupplier condition, final Deadline deadline) {
        while (!condition.getAsBoolean() && !deadline.isOver() && !Thread.currentThread().isInterrupted()) {
            if (!makeOwnWork()) {
                LockSupport.parkNanos(PARK_NS);
            }
        }
    }

    /** Waits until a condition holds; returns false if it does not by the deadline. An interrupt ends no wait. */
    boolean await(final Deadline deadline, final BooleanSupplier condition) {
        return deadline.await(() -> {
            boolean holds = condition.getAsBoolean();
            while (!holds && makeOwnWork() && !deadline.isOver()) {
                holds = condition.getAsBoolean();
            }
            return holds || condition.getAsBoolean();
        });
    }

    /**
     * Waits until a condition holds. The calling thread takes over the agents that no thread invokes: the invoking thread has
     * ended, or has made no duty cycle for a second or half of the time, for instance because its invoker is closed.
     */
    void awaitForAll(final Deadline deadline, final BooleanSupplier condition) {
        all.forEach(ConnectionPoller::replaceEndedThread);
        final long idleNs = Math.min(IDLE_NS, deadline.leftNs() / 2);
        long[] cycles = cycles();
        while (!await(Deadline.after(Math.min(idleNs, deadline.leftNs())), condition) && !deadline.isOver()) {
            for (int i = 0; i < cycles.length; i++) {
                all.get(i).replaceIdleThread(cycles[i]);
            }
            cycles = cycles();
        }
    }

    private long[] cycles() {
        return all.stream().mapToLong(ConnectionPoller::cycles).toArray();
    }

    /** The first poller whose pipeline is not running, or whose agent has ended; null if there is none. */
    ConnectionPoller ended() {
        for (final ConnectionPoller poller : all) {
            if (!poller.isRunning()) {
                return poller;
            }
        }
        return null;
    }

    /** Whether all remaining connections belong to pollers that make no duty cycles. */
    boolean haveEnded() {
        boolean areAllPolling = true;
        for (final ConnectionPoller poller : all) {
            if (poller.isPolling() && poller.connections().get() > 0) {
                return false;
            }
            areAllPolling &= poller.isPolling();
        }
        return !areAllPolling;
    }

    /** The poller with the fewest connections: of the invoked ones if there are any, and of those without a failed queue. */
    ConnectionPoller leastLoaded() {
        ConnectionPoller least = all.getFirst();
        for (final ConnectionPoller poller : all) {
            if (isBetter(poller, least)) {
                least = poller;
            }
        }
        return least;
    }

    private static boolean isBetter(final ConnectionPoller poller, final ConnectionPoller other) {
        if (poller.hasFailed() != other.hasFailed()) {
            return other.hasFailed();
        }
        // The connections of an agent that has not been started wait.
        final boolean isPolling = poller.isPolling();
        return isPolling == other.isPolling() ? poller.connections().get() < other.connections().get() : isPolling;
    }

    /** The poller whose queue the connection of a request shares, or the poller with the fewest connections. */
    ConnectionPoller of(final RcRequest request) {
        final RcQueue queue = request.sharedQueue().orElse(null);
        for (final ConnectionPoller poller : all) {
            if (queue != null && poller.shares(queue)) {
                return poller;
            }
        }
        return leastLoaded();
    }

    /**
     * Opens the completion queues that connections share, if they do; before the pipelines start.
     *
     * @param open opens the queue of a poller, by its index
     */
    void openQueues(final IntFunction<SharedQueue> open) {
        all.forEach(poller -> poller.openQueue(() -> open.apply(poller.index())));
    }

    /** Watches for errors of shared queues that the device reports; after {@link #begin}. */
    void watchQueues(final VerbsContext device) {
        all.forEach(poller -> poller.watchQueue(device));
    }

    /** Closes shared queues, after all connections and pipelines: all of them, also if one fails. */
    void closeQueues() {
        RuntimeException failed = null;
        for (final ConnectionPoller poller : all) {
            try {
                poller.closeQueue();
            } catch (final RuntimeException failure) {
                if (failed == null) {
                    failed = failure;
                } else {
                    failed.addSuppressed(failure);
                }
            }
        }
        if (failed != null) {
            throw failed;
        }
    }

    /** Publishes changed counts; event thread. */
    void publishCounts() {
        all.forEach(poller -> poller.counts().requestPublication());
    }

    /** Schedules the tasks that a pipeline has refused because too many of others were pending. */
    void schedule() {
        all.forEach(ConnectionPoller::schedule);
    }

    /** Waits for the ends of the polling threads or agents; false if one has not ended at the deadline. */
    boolean join(final Deadline deadline) {
        boolean joined = true;
        for (final ConnectionPoller poller : all) {
            joined &= poller.join(deadline);
        }
        return joined;
    }

    /**
     * Executes the tasks that the polling threads have left at their end.
     *
     * @return false if more may follow, from threads that have checked before the close whether the set takes tasks
     */
    boolean adopt() {
        boolean isLast = true;
        for (final ConnectionPoller poller : all) {
            // In this order: a task that has been added by then is executed.
            isLast &= !poller.tasks().isOffering();
            poller.adopt();
        }
        return isLast;
    }
}
