/**
 * Ways to bring completions from a queue to handlers on other threads: ringpoll's own, C's, and the usual alternatives in Java,
 * each behind one interface so that they can be measured at the same job.
 */
package io.ringpoll.bench.handoff;
