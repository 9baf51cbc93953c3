/**
 * {@code ./ringpoll throughput}: completions per second from a saturated queue to the handlers, of ringpoll and its baselines.
 */
package io.ringpoll.bench.throughput;
