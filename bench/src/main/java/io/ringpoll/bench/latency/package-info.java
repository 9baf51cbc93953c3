/**
 * {@code ./ringpoll latency}: the time from the due time of a completion, or the post of its operation, to its handler; ringpoll
 * and C in turns.
 */
package io.ringpoll.bench.latency;
