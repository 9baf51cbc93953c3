package io.ringpoll.bench.suite;

/**
 * Ours and a baseline, both JMH benchmarks.
 *
 * @param name         what is measured, as results call it
 * @param ours         ours
 * @param baselineName what results call the other
 * @param baseline     the other
 * @param perOperation how many things an operation of both is, for instance completions of a poll
 */
record Comparison(String name, Variant ours, String baselineName, Variant baseline, int perOperation) {
}
