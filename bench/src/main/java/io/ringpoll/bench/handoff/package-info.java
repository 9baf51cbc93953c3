/**
 * Mechanisms that pass completions from a queue to handlers on other threads: ringpoll, C, and the usual alternatives in Java,
 * behind one interface, so that all are measured with the same job.
 */
package io.ringpoll.bench.handoff;
