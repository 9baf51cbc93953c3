package io.ringpoll.bench.suite;

/**
 * A JMH benchmark of ringpoll and one of a baseline.
 *
 * @param name         label in results
 * @param ours         the benchmark of ringpoll
 * @param baselineName label of the baseline in results
 * @param baseline     the benchmark of the baseline
 * @param perOperation number of items in an operation of both, for instance completions per poll
 */
record Comparison(String name, Variant ours, String baselineName, Variant baseline, int perOperation) {
}
