package io.ringpoll.pipeline;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.agrona.concurrent.IdleStrategy;

/**
 * The threads of a description, as placed by its {@link Pinning}. The description remains unchanged.
 *
 * @param pollerCpu    CPU of the polling thread, or {@link ThreadPlacement#ANY_CPU}
 * @param idleStrategy of the polling thread; null for the default
 * @param handlers     in the order of description
 */
record PinnedThreads(int pollerCpu, IdleStrategy idleStrategy, List<HandlerDescription> handlers) {
    /** Places the threads that have no CPU of their own. */
    static PinnedThreads of(final PipelineBuilder description) {
        final Map<String, Pinning.Place> places = places(description);
        final Pinning.Place poller = places.get(description.effectivePollerName());
        final boolean placed = poller != null && description.pollerCpu == ThreadPlacement.ANY_CPU;
        final boolean defaultIdle = description.idleStrategy == null;
        return new PinnedThreads(
            placed ? poller.cpu() : description.pollerCpu,
            placed && defaultIdle ? poller.waitStrategy().newIdleStrategy() : description.idleStrategy,
            description.handlers.stream().map(handler -> place(handler, places.get(handler.roleName()))).toList());
    }

    private static Map<String, Pinning.Place> places(final PipelineBuilder description) {
        final List<Pinning.Candidate> candidates = new ArrayList<>();
        final Set<Integer> taken = new TreeSet<>();
        add(candidates, taken, description.effectivePollerName(), true, description.pollerCpu);
        if (!description.runsToCompletion) {
            for (final HandlerDescription handler : description.handlers) {
                add(candidates, taken, handler.roleName(), false, handler.cpu());
            }
        }
        return candidates.isEmpty() || description.pinning == null ? Map.of() : description.pinning.places(candidates, taken);
    }

    private static HandlerDescription place(final HandlerDescription handler, final Pinning.Place place) {
        return place != null && handler.cpu() == ThreadPlacement.ANY_CPU ? handler.placedAt(place) : handler;
    }

    private static void add(
        final List<Pinning.Candidate> candidates, final Set<Integer> taken, final String name, final boolean polls,
        final int cpu) {
        if (cpu == ThreadPlacement.ANY_CPU) {
            candidates.add(new Pinning.Candidate(name, polls));
        } else if (cpu >= 0) {
            taken.add(cpu);
        }
    }
}
