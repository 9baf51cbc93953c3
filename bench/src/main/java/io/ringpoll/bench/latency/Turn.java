package io.ringpoll.bench.latency;

/**
 * The plan of one turn of a latency contestant.
 *
 * @param round      its round; all contestants have one turn in each
 * @param leadInNs   time to run in, not recorded
 * @param lengthNs   recorded time
 * @param iterations closed loop: maximum number of recorded operations; 0 for no limit except the time
 */
public record Turn(int round, long leadInNs, long lengthNs, long iterations) {
}
