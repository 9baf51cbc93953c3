package io.ringpoll.internal.tuning.plan;

import io.ringpoll.internal.tuning.topology.CpuSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The threads to place, and constraints on their CPUs.
 *
 * @param threads the threads, in descending importance within their kind
 * @param device  the RDMA device to be near to; empty for the first active one, if any
 * @param cpus    the only CPUs to use; empty for all CPUs that the process may use
 */
public record PlanRequest(List<ThreadRole> threads, Optional<String> device, Optional<CpuSet> cpus) {
    /** Copies the list and checks it. */
    public PlanRequest {
        threads = List.copyOf(threads);
        if (threads.isEmpty()) {
            throw new IllegalArgumentException("a plan needs at least one thread");
        }
        final Set<String> names = new HashSet<>();
        for (final ThreadRole thread : threads) {
            if (!names.add(thread.name())) {
                throw new IllegalArgumentException("two threads are named '" + thread.name() + "'");
            }
        }
    }

    /**
     * A request for the given threads, near the first active device, on any CPU that the process may use.
     *
     * @param threads the threads
     * @return the request
     */
    public static PlanRequest of(final ThreadRole... threads) {
        return new PlanRequest(List.of(threads), Optional.empty(), Optional.empty());
    }

    /**
     * The threads of the default pipeline: a poller, a handler for each of the three paths, and the posting client.
     *
     * @return the request
     */
    public static PlanRequest ofPipeline() {
        return of(ThreadRole.poller("poller"), ThreadRole.handler("send-write"), ThreadRole.handler("receive"),
            ThreadRole.handler("error"), ThreadRole.application("client"));
    }

    /**
     * The same near another device.
     *
     * @param name the RDMA device's name
     * @return a new request
     */
    public PlanRequest nearDevice(final String name) {
        return new PlanRequest(threads, Optional.of(name), cpus);
    }

    /**
     * The same on given CPUs only.
     *
     * @param only the CPUs
     * @return a new request
     */
    public PlanRequest onCpus(final CpuSet only) {
        return new PlanRequest(threads, device, Optional.of(only));
    }

    /**
     * The threads of one kind.
     *
     * @param kind the kind
     * @return those threads in the order given
     */
    public List<ThreadRole> threads(final ThreadRole.Kind kind) {
        return threads.stream().filter(thread -> thread.kind() == kind).toList();
    }
}
