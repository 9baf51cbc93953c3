package io.ringpoll.bench.suite;

import io.ringpoll.bench.growth.GrowthConfig;
import java.nio.file.Path;
import java.util.Optional;
import java.util.Set;

/**
 * The size of a run.
 *
 * @param steps      number of benchmark, tool and growth runs
 * @param expectedNs total time on an idle machine, nanoseconds
 */
record RunPlan(int steps, long expectedNs) {
    /** The plan of the given parts. */
    static RunPlan of(final Set<Part> parts, final Effort effort, final Path folder) {
        int steps = 0;
        long expectedNs = 0;
        for (final Part part : parts) {
            for (final Variant variant : JmhRounds.variants(part.comparisons(effort))) {
                steps += effort.rounds();
                expectedNs += effort.rounds() * effort.expectedNs(variant);
            }
            for (final ToolRun tool : part.tools(effort, folder)) {
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
