package io.ringpoll.bench.replicate;

import java.util.Map;

/**
 * What is measured.
 *
 * @param address      where the servers listen
 * @param payloadBytes length of a record
 * @param window       records on their way at a time
 * @param warmUpNs     not counted
 * @param runNs        counted
 * @param memoryLog    whether logs stay in memory, so that no disk is measured
 * @param properties   of the engine and the transport, as they are set besides
 */
record ReplicateConfig(String address, int payloadBytes, int window, long warmUpNs, long runNs, boolean memoryLog,
    Map<String, String> properties) {
}
