package io.ringpoll.internal.tuning.plan;

import io.ringpoll.pipeline.WaitMode;
import java.util.OptionalInt;

/**
 * The CPU and the wait of one thread in a plan.
 *
 * @param role     the thread
 * @param cpu      the CPU to which it is pinned; empty if pinning would have no effect
 * @param waitMode its wait
 * @param reason   the reason for them, one sentence
 */
public record PlannedThread(ThreadRole role, OptionalInt cpu, WaitMode waitMode, String reason) {
}
