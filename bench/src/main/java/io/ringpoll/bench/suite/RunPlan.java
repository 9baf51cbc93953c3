package io.ringpoll.bench.suite;

import java.nio.file.Path;
import java.util.Set;

/**
 * How much a run is.
 *
 * @param steps      benchmarks and tools, each as often as it is run
 * @param expectedNs how long they take together on a machine that does nothing else, nanoseconds
 */
record RunPlan(int steps, long expectedNs) {
    /** The plan of parts. */
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
        }
        return new RunPlan(steps, expectedNs);
    }
}
