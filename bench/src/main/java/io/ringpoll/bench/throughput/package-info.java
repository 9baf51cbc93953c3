/**
 * {@code ./ringpoll throughput}: completions per second from a saturated queue to the handlers, ours and others side by side.
 */
package io.ringpoll.bench.throughput;
