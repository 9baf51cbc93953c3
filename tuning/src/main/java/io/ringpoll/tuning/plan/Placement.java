package io.ringpoll.tuning.plan;

import io.ringpoll.pipeline.WaitMode;
import java.util.OptionalInt;

/**
 * The placement of one thread.
 *
 * @param role     the thread
 * @param cpu      the CPU to which it is pinned; empty if pinning would have no effect
 * @param waitMode its wait
 * @param reason   the reason for the placement, one sentence
 */
public record Placement(ThreadRole role, OptionalInt cpu, WaitMode waitMode, String reason) {
}
