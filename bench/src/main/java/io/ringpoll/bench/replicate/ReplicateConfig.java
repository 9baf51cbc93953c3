package io.ringpoll.bench.replicate;

import java.util.random.RandomGenerator;

/**
 * The settings of a measurement.
 *
 * @param address         address of the servers
 * @param payloadBytes    length of the shortest record
 * @param maxPayloadBytes length of the longest record; lengths between both are drawn so that each factor is equally frequent:
 *     as many from 100 to 1000 bytes as from 1000 to 10000
 * @param window          maximum number of records in flight
 * @param warmUpNs        time that is not measured
 * @param runNs           measured time
 * @param memoryLog       whether logs are in memory, so that no disk is measured
 * @param profile         whether the cost of an append is reported
 */
public record ReplicateConfig(String address, int payloadBytes, int maxPayloadBytes, int window, long warmUpNs, long runNs,
    boolean memoryLog, boolean profile) {
    /** The length of the next record. */
    int nextPayloadBytes(final RandomGenerator random) {
        if (maxPayloadBytes == payloadBytes) {
            return payloadBytes;
        }
        final double factor = Math.pow((double) maxPayloadBytes / payloadBytes, random.nextDouble());
        return Math.clamp(Math.round(payloadBytes * factor), payloadBytes, maxPayloadBytes);
    }

    /** The lengths, for tables and names of figures: {@code 100} or {@code 100-1000000}. */
    String payloadText() {
        return maxPayloadBytes == payloadBytes ? Integer.toString(payloadBytes) : payloadBytes + "-" + maxPayloadBytes;
    }
}
