/**
 * The effect of a change of the machine: jitter and latency measured before and after it, and the differences that the rounds
 * show.
 */
package io.ringpoll.bench.change;
