package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.pipeline.HandlerWait;

/**
 * The hot threads of every contestant: the same for all.
 *
 * @param handlers how many share the paths
 * @param ringSize slots of the ring
 * @param batch    completions that a poll asks for
 * @param waitBy   how all of them wait
 * @param cpus     where they are pinned
 * @param poster   where the thread is pinned that posts paced operations, or {@link HotCpus#ANY}
 */
record HotThreads(int handlers, int ringSize, int batch, HandlerWait waitBy, HotCpus cpus, int poster) {
}
