package io.ringpoll.bench.replicate;

import java.util.Map;
import java.util.TreeMap;
import java.util.random.RandomGenerator;
import org.apache.ratis.server.RaftServerConfigKeys;

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
    /**
     * The longest record, in bytes. The defaults of the transports (64 MB for a message) and of the engine (64 MB for the writes
     * that a leader or a log has taken) have room for it.
     */
    public static final int LONGEST_RECORD = 64_000_000;

    private static final int MB = 1 << 20;
    /** More than the bytes of an entry without its record. */
    private static final int ENTRY_HEADER_BYTES = 1 << 16;

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
        // No factor leads from 0 to another length.
        final int shift = payloadBytes == 0 ? 1 : 0;
        final int shortest = payloadBytes + shift;
        final double factor = Math.pow((double) (maxPayloadBytes + shift) / shortest, random.nextDouble());
        return Math.clamp(Math.round(shortest * factor) - shift, payloadBytes, maxPayloadBytes);
    }

    /** The settings of the servers' logs. Those for an entry are raised if the longest record needs it. */
    Map<String, String> logSettings() {
        final Map<String, String> settings = new TreeMap<>(Map.of(
            RaftServerConfigKeys.Log.USE_MEMORY_KEY, Boolean.toString(memoryLog),
            RaftServerConfigKeys.Log.SEGMENT_SIZE_MAX_KEY, "64MB"));
        final int entryMb = Math.ceilDiv(maxPayloadBytes + ENTRY_HEADER_BYTES, MB);
        if (entryMb > RaftServerConfigKeys.Log.Appender.BUFFER_BYTE_LIMIT_DEFAULT.getSize() / MB) {
            settings.put(RaftServerConfigKeys.Log.Appender.BUFFER_BYTE_LIMIT_KEY, entryMb + "MB");
            // An entry must fit, with its length and its checksum.
            settings.put(RaftServerConfigKeys.Log.WRITE_BUFFER_SIZE_KEY,
                Math.max(entryMb + 1, RaftServerConfigKeys.Log.WRITE_BUFFER_SIZE_DEFAULT.getSize() / MB) + "MB");
        }
        return settings;
    }

    /** The unusual settings of the cluster, for names of figures: {@code 7-servers/2-groups/}, {@code processes/} or nothing. */
    String clusterName() {
        return (servers == SERVERS ? "" : servers + "-servers/") + (groups == 1 ? "" : groups + "-groups/") +
            (processes ? "processes/" : "");
    }

    /** The lengths, for tables and names of figures: {@code 100} or {@code 100-1000000}. */
    String payloadText() {
        return maxPayloadBytes == payloadBytes ? Integer.toString(payloadBytes) : payloadBytes + "-" + maxPayloadBytes;
    }
}
