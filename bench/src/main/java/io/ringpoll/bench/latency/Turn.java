package io.ringpoll.bench.latency;

/**
 * A turn of a contestant.
 *
 * @param round      in which it is; all contestants have one turn in each
 * @param leadInNs   time to run in, not recorded
 * @param lengthNs   time that is recorded
 * @param iterations closed loop: how many are recorded at most; 0 for no limit but the time
 */
public record Turn(int round, long leadInNs, long lengthNs, long iterations) {
}
