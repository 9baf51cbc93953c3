package io.ringpoll.bench.replicate;

/**
 * The settings of a measurement.
 *
 * @param address      address of the servers
 * @param payloadBytes length of a record
 * @param window       maximum number of records in flight
 * @param warmUpNs     time that is not measured
 * @param runNs        measured time
 * @param memoryLog    whether logs are in memory, so that no disk is measured
 * @param profile      whether the cost of an append is reported
 */
public record ReplicateConfig(String address, int payloadBytes, int window, long warmUpNs, long runNs, boolean memoryLog,
    boolean profile) {
}
