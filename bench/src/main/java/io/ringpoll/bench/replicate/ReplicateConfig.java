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
 * @param servers         number of servers
 * @param groups          number of groups; each has a log on every server and a client, and the records go to them in turns
 * @param processes       whether each server and the client is a process
 */
public record ReplicateConfig(String address, int payloadBytes, int maxPayloadBytes, int window, long warmUpNs, long runNs,
    boolean memoryLog, boolean profile, int servers, int groups, boolean processes) {
    /** The usual number of servers. */
    public static final int SERVERS = 3;

    /** The settings for {@link #SERVERS} servers of one group. */
    ReplicateConfig(final String address, final int payloadBytes, final int maxPayloadBytes, final int window,
        final long warmUpNs, final long runNs, final boolean memoryLog, final boolean profile) {
        this(address, payloadBytes, maxPayloadBytes, window, warmUpNs, runNs, memoryLog, profile, SERVERS, 1, false);
    }

    /** The same for processes, with another window. */
    ReplicateConfig asProcesses(final int records) {
        return new ReplicateConfig(
            address, payloadBytes, maxPayloadBytes, records, warmUpNs, runNs, memoryLog, profile, servers, groups, true);
    }

    /** The length of the next record. */
    int nextPayloadBytes(final RandomGenerator random) {
        if (maxPayloadBytes == payloadBytes) {
            return payloadBytes;
        }
        final double factor = Math.pow((double) maxPayloadBytes / payloadBytes, random.nextDouble());
        return Math.clamp(Math.round(payloadBytes * factor), payloadBytes, maxPayloadBytes);
    }

    /** What is not usual in the cluster, for names of figures: {@code 7-servers/2-groups/}, {@code processes/} or nothing. */
    String clusterName() {
        return (servers == SERVERS ? "" : servers + "-servers/") + (groups == 1 ? "" : groups + "-groups/") +
            (processes ? "processes/" : "");
    }

    /** The lengths, for tables and names of figures: {@code 100} or {@code 100-1000000}. */
    String payloadText() {
        return maxPayloadBytes == payloadBytes ? Integer.toString(payloadBytes) : payloadBytes + "-" + maxPayloadBytes;
    }
}
