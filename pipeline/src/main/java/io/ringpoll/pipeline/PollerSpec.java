package io.ringpoll.pipeline;

import org.agrona.concurrent.IdleStrategy;

/**
 * All that the builder has settled about the polling thread.
 *
 * @param roleName     of the thread
 * @param cpu          that it is pinned to, or {@link ThreadPlacement#ANY_CPU}
 * @param idleStrategy for rounds without work
 */
record PollerSpec(String roleName, int cpu, IdleStrategy idleStrategy) {
}
