package io.ringpoll.pipeline;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Applies a {@link Pinning} to the threads of a description before it is checked.
 */
final class PinningStep {
    private final PipelineBuilder description;

    PinningStep(final PipelineBuilder description) {
        this.description = description;
    }

    void apply() {
        final List<Pinning.Candidate> candidates = new ArrayList<>();
        final Set<Integer> taken = new TreeSet<>();
        add(candidates, taken, description.effectivePollerName(), true, description.pollerCpu);
        if (!description.runsToCompletion) {
            for (final HandlerOptions options : description.handlers) {
                add(candidates, taken, options.roleName, false, options.cpu);
            }
        }
        if (candidates.isEmpty() || description.pinning == null) {
            return;
        }
        final Map<String, Pinning.Place> places = description.pinning.places(candidates, taken);
        final Pinning.Place poller = places.get(description.effectivePollerName());
        if (poller != null && description.pollerCpu == ThreadPlacement.ANY_CPU) {
            description.pollerCpu = poller.cpu();
            if (description.idleStrategy == null) {
                description.idleStrategy = poller.waitStrategy().newIdleStrategy();
            }
        }
        for (final HandlerOptions options : description.handlers) {
            final Pinning.Place place = places.get(options.roleName);
            if (place != null && options.cpu == ThreadPlacement.ANY_CPU) {
                take(options, place);
            }
        }
    }

    private static void take(final HandlerOptions options, final Pinning.Place place) {
        options.cpu = place.cpu();
        if (options.wait == null && options.waitStrategy == null) {
            options.wait = place.waitStrategy();
        }
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
