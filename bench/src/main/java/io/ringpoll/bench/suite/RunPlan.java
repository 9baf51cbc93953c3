package io.ringpoll.bench.suite;

import io.ringpoll.bench.growth.GrowthConfig;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/**
 * The size of a run.
 *
 * @param steps      number of benchmark, tool and growth runs
 * @param expectedNs total time on an idle machine, nanoseconds
 */
record RunPlan(int steps, long expectedNs) {
    /**
     * The plan of the given parts.
     *
     * @param comparisons returns the JMH comparisons of a part
     * @param tools       returns the tools of a part
     */
    static RunPlan of(final Set<Part> parts, final Effort effort, final Function<Part, List<Comparison>> comparisons,
        final Function<Part, List<ToolRun>> tools) {
        int steps = 0;
        long expectedNs = 0;
        for (final Part part : parts) {
            for (final Variant variant : JmhRounds.variants(comparisons.apply(part))) {
                steps += effort.rounds();
                expectedNs += effort.rounds() * effort.expectedNs(variant);
            }
            for (final ToolRun tool : tools.apply(part)) {
                steps++;
                expectedNs += tool.expectedNs();
            }
            final Optional<GrowthConfig> growth = part.growth(effort);
            if (growth.isPresent()) {
                steps++;
                expectedNs += growth.get().expectedNs();
            }
        }
        return new RunPlan(steps, expectedNs);
    }
}
