package io.ringpoll.bench.replicate;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;

/** A group of a {@link ReplicatedCluster}, with its client and a state machine on each server. */
final class ReplicatedGroup {
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int PAUSE_MS = 5;

    private final RaftGroup group;
    private final Map<RaftPeerId, StreamLog> logs = new HashMap<>();
    private final RaftClient client;

    ReplicatedGroup(final List<RaftPeer> peers, final RaftProperties properties) {
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        peers.forEach(peer -> logs.put(peer.getId(), new StreamLog()));
        client = RaftClient.newBuilder().setProperties(properties).setRaftGroup(group).build();
    }

    RaftGroup group() {
        return group;
    }

    RaftClient client() {
        return client;
    }

    /** The state machine on a server. */
    StreamLog log(final RaftPeerId server) {
        return logs.get(server);
    }

    /** The state machines on all servers. */
    List<StreamLog> logs() {
        return List.copyOf(logs.values());
    }

    /** Waits until every server has applied a number of records; returns their states then. */
    List<RecordLog.State> awaitApplied(final long records) throws InterruptedException, TimeoutException {
        final long startNs = System.nanoTime();
        while (logs.values().stream().anyMatch(log -> log.state().records() < records)) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new TimeoutException("not all servers have applied " + records + " records: " + states());
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        }
        return states();
    }

    private List<RecordLog.State> states() {
        return logs.values().stream().map(RecordLog::state).toList();
    }
}
