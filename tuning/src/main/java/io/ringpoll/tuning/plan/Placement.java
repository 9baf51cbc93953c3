package io.ringpoll.tuning.plan;

import java.util.OptionalInt;

/**
 * One thread's place.
 *
 * @param role     the thread
 * @param cpu      the CPU to pin it to; nothing if pinning would change nothing
 * @param waitHint how it should wait
 * @param reason   why it is there, one sentence
 */
public record Placement(ThreadRole role, OptionalInt cpu, WaitHint waitHint, String reason) {
}
