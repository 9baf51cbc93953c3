package io.ringpoll.bench.replicate;

import io.ringpoll.internal.os.TemporaryFolder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.GroupManagementRequest;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;

/** Servers that replicate the logs of one or more groups, and the clients of the groups, in this process. */
final class ReplicatedCluster implements AutoCloseable {
    private final ReplicateConfig config;
    private final Contestant contestant;
    private final TemporaryFolder folder;
    private final List<RaftServer> servers = new ArrayList<>();
    private final List<RaftPeer> peers = new ArrayList<>();
    private final List<ReplicatedGroup> groups = new ArrayList<>();

    private ReplicatedCluster(final ReplicateConfig config, final Contestant contestant) throws IOException {
        this.config = config;
        this.contestant = contestant;
        final List<String> addresses = contestant.transport()
            .freePorts(config.address(), contestant.api(), 2 * config.servers()).stream()
            .map(port -> config.address() + ":" + port).toList();
        for (int i = 0; i < config.servers(); i++) {
            peers.add(RaftPeer.newBuilder().setId("server-" + i).setAddress(addresses.get(2 * i))
                .setDataStreamAddress(addresses.get(2 * i + 1)).build());
        }
        // Last: it would remain if an address is not free.
        folder = TemporaryFolder.create("ringpoll-replicate");
    }

    static ReplicatedCluster start(final ReplicateConfig config, final Contestant contestant) throws IOException {
        final ReplicatedCluster cluster = new ReplicatedCluster(config, contestant);
        boolean started = false;
        try {
            for (int i = 0; i < config.groups(); i++) {
                cluster.groups.add(new ReplicatedGroup(cluster.peers, cluster.properties()));
            }
            for (final RaftPeer peer : cluster.peers) {
                cluster.startServer(peer);
            }
            started = true;
            return cluster;
        } finally {
            if (!started) {
                cluster.close();
            }
        }
    }

    private void startServer(final RaftPeer peer) throws IOException {
        final RaftProperties properties = properties();
        final int port = portOf(peer.getAddress());
        contestant.transport().listen(properties, config.address(), port);
        contestant.transport().listenForStreams(properties, config.address(), portOf(peer.getDataStreamAddress()));
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.path().resolve(peer.getId().toString()).toFile()));
        final RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setGroup(groups.getFirst().group())
            .setProperties(properties).setStateMachineRegistry(id -> logOf(id, peer)).build();
        servers.add(server);
        server.start();
        long callId = 0;
        for (final ReplicatedGroup added : groups.subList(1, groups.size())) {
            server.groupManagement(
                GroupManagementRequest.newAdd(added.client().getId(), peer.getId(), callId++, added.group(), true));
        }
    }

    private StreamLog logOf(final RaftGroupId id, final RaftPeer server) {
        return groups.stream().filter(each -> each.group().getGroupId().equals(id)).findAny().orElseThrow().log(server.getId());
    }

    private static int portOf(final String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** A client for data streams of the first group, to be closed; their primary server is the first one. */
    DataStreamClient streams() {
        return contestant.transport().streams(groups.getFirst().client(), peers.getFirst(), properties());
    }

    /** Length and sum of a stream at each server. */
    List<String> sumsOf(final ClientInvocationId stream) {
        return groups.getFirst().logs().stream().map(log -> log.sumOf(stream)).toList();
    }

    private RaftProperties properties() {
        final RaftProperties properties = new RaftProperties();
        contestant.transport().choose(properties);
        // Elections are not measured.
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(2, TimeUnit.SECONDS));
        config.logSettings().forEach(properties::set);
        // The minimum of the engine is two.
        RaftClientConfigKeys.Async.setOutstandingRequestsMax(properties, config.window() + 1);
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(10, TimeUnit.SECONDS));
        contestant.properties().forEach(properties::set);
        return properties;
    }

    List<ReplicatedGroup> groups() {
        return groups;
    }

    @Override
    public void close() throws IOException {
        for (final ReplicatedGroup each : groups) {
            each.client().close();
        }
        for (final RaftServer server : servers) {
            server.close();
        }
        folder.close();
    }
}
