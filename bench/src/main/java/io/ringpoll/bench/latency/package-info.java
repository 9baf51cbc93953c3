/**
 * {@code ./ringpoll latency}: from when a completion was due, or its operation posted, to its handler; ours and C's in turns.
 */
package io.ringpoll.bench.latency;
