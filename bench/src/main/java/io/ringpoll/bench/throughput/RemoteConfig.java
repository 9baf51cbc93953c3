package io.ringpoll.bench.throughput;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.internal.rc.RdmaApi;

/**
 * The settings of a measurement to a server in another process.
 *
 * @param api             the binding that makes the connection
 * @param operation       posted operation
 * @param sizeBytes       length of a message
 * @param depth           operations in flight
 * @param rounds          measured rounds
 * @param warmUp          warm-up rounds
 * @param leadInMs        time before the first round
 * @param windowMs        length of a round
 * @param threads         the hot threads
 * @param runToCompletion whether the poller handles and posts, instead of a handler on another thread
 */
public record RemoteConfig(RdmaApi api, Traffic.Operation operation, int sizeBytes, int depth, int rounds, int warmUp,
    long leadInMs, long windowMs, HotThreads threads, boolean runToCompletion) {
}
