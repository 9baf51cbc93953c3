package io.ringpoll.bench.replicate;

/**
 * What is measured.
 *
 * @param address      where the servers listen
 * @param payloadBytes length of a record
 * @param window       records on their way at a time
 * @param warmUpNs     not counted
 * @param runNs        counted
 * @param memoryLog    whether logs stay in memory, so that no disk is measured
 * @param profile      whether it is told what an append costs
 */
public record ReplicateConfig(String address, int payloadBytes, int window, long warmUpNs, long runNs, boolean memoryLog,
    boolean profile) {
}
