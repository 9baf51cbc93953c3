package io.ringpoll.pipeline;

import io.ringpoll.os.ThreadAffinity;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import org.agrona.concurrent.IdleStrategy;

/**
 * The threads of a description, with the CPUs that its {@link Pinning} assigns. The description remains unchanged.
 *
 * @param pollerCpu    CPU of the polling thread, or {@link Pinning#ANY_CPU}
 * @param idleStrategy of the polling thread; null for the default
 * @param handlers     in the order of description
 */
record PinnedThreads(int pollerCpu, IdleStrategy idleStrategy, List<HandlerConfig> handlers) {
    /** Assigns CPUs to the threads that have none. */
    static PinnedThreads of(final PipelineBuilder description) {
        final Map<String, Pinning.Assignment> assignments = assignments(description);
        final Pinning.Assignment poller = assignments.get(description.defaults().pollerName());
        final boolean assigned = poller != null && description.pollerCpu == Pinning.ANY_CPU;
        final boolean defaultIdle = description.idleStrategy == null;
        return new PinnedThreads(
            assigned ? poller.cpu() : description.pollerCpu,
            assigned && defaultIdle ? poller.waitMode().newIdleStrategy() : description.idleStrategy,
            description.handlers.list().stream().map(handler -> pin(handler, assignments.get(handler.roleName()))).toList());
    }

    /** Pins the calling thread, unless it may run on any CPU. */
    static void pinCurrentThread(final int cpu) {
        if (cpu != Pinning.ANY_CPU) {
            ThreadAffinity.pin(cpu);
        }
    }

    private static Map<String, Pinning.Assignment> assignments(final PipelineBuilder description) {
        final List<Pinning.Candidate> candidates = new ArrayList<>();
        final Set<Integer> taken = new TreeSet<>();
        if (!description.asAgent) {
            add(candidates, taken, description.defaults().pollerName(), true, description.pollerCpu);
        }
        if (!description.runsToCompletion) {
            for (final HandlerConfig handler : description.handlers.list()) {
                add(candidates, taken, handler.roleName(), false, handler.cpu());
            }
        }
        if (candidates.isEmpty() || description.pinning == null) {
            return Map.of();
        }
        return Objects.requireNonNull(description.pinning.assign(candidates, taken),
            "the pinning returned null: return a map, which may be empty");
    }

    private static HandlerConfig pin(final HandlerConfig handler, final Pinning.Assignment assignment) {
        return assignment != null && handler.cpu() == Pinning.ANY_CPU ? handler.pinned(assignment) : handler;
    }

    private static void add(
        final List<Pinning.Candidate> candidates, final Set<Integer> taken, final String name, final boolean polls,
        final int cpu) {
        if (cpu == Pinning.ANY_CPU) {
            candidates.add(new Pinning.Candidate(name, polls));
        } else if (cpu >= 0) {
            taken.add(cpu);
        }
    }
}
