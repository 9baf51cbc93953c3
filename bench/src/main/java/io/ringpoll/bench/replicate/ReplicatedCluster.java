package io.ringpoll.bench.replicate;

import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.Peer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;

/** Three servers of a group, and a client, in this process. */
final class ReplicatedCluster implements AutoCloseable {
    private static final int SERVERS = 3;
    private static final long WAIT_NS = TimeUnit.SECONDS.toNanos(30);
    private static final int PAUSE_MS = 5;

    private final ReplicateConfig config;
    private final Contestant contestant;
    private final Path folder;
    private final List<RaftServer> servers = new ArrayList<>();
    private final List<StreamLog> logs = new ArrayList<>();
    private final RaftGroup group;
    private RaftClient client;

    private ReplicatedCluster(final ReplicateConfig config, final Contestant contestant) throws IOException {
        this.config = config;
        this.contestant = contestant;
        folder = Files.createTempDirectory("ringpoll-replicate");
        final List<RaftPeer> peers = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            peers.add(RaftPeer.newBuilder().setId("server-" + i).setAddress(config.address() + ":" + freePort())
                .setDataStreamAddress(config.address() + ":" + freePort()).build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
    }

    static ReplicatedCluster start(final ReplicateConfig config, final Contestant contestant) throws IOException {
        final ReplicatedCluster cluster = new ReplicatedCluster(config, contestant);
        boolean started = false;
        try {
            for (final RaftPeer peer : cluster.group.getPeers()) {
                cluster.startServer(peer);
            }
            cluster.client = RaftClient.newBuilder().setProperties(cluster.properties()).setRaftGroup(cluster.group).build();
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
        RaftServerConfigKeys.setStorageDir(properties, List.of(folder.resolve(peer.getId().toString()).toFile()));
        final StreamLog log = new StreamLog();
        final RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setGroup(group).setProperties(properties)
            .setStateMachine(log).build();
        servers.add(server);
        logs.add(log);
        server.start();
    }

    private static int portOf(final String address) {
        return Integer.parseInt(address.substring(address.lastIndexOf(':') + 1));
    }

    /** A client for data streams, to be closed; their primary server is the first one. */
    DataStreamClient streams() {
        return contestant.transport().streams(client, group.getPeer(servers.get(0).getId()), properties());
    }

    /** Length and sum of a stream at each server. */
    List<String> sumsOf(final ClientInvocationId stream) {
        return logs.stream().map(log -> log.sumOf(stream)).toList();
    }

    private RaftProperties properties() {
        final RaftProperties properties = new RaftProperties();
        contestant.transport().choose(properties);
        // Elections are not measured.
        RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
        RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(2, TimeUnit.SECONDS));
        RaftServerConfigKeys.Log.setUseMemory(properties, config.memoryLog());
        RaftServerConfigKeys.Log.setSegmentSizeMax(properties, SizeInBytes.valueOf("64MB"));
        // The minimum of the engine is two.
        RaftClientConfigKeys.Async.setOutstandingRequestsMax(properties, config.window() + 1);
        RaftClientConfigKeys.Rpc.setRequestTimeout(properties, TimeDuration.valueOf(10, TimeUnit.SECONDS));
        contestant.properties().forEach(properties::set);
        return properties;
    }

    RaftClient client() {
        return client;
    }

    /** Waits until every server has applied a number of records; returns their states then. */
    List<RecordLog.State> awaitApplied(final long records) throws InterruptedException, TimeoutException {
        final long startNs = System.nanoTime();
        while (logs.stream().anyMatch(log -> log.state().records() < records)) {
            if (System.nanoTime() - startNs > WAIT_NS) {
                throw new TimeoutException("not all servers have applied " + records + " records: " +
                    logs.stream().map(RecordLog::state).toList());
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
        }
        return logs.stream().map(RecordLog::state).toList();
    }

    private int freePort() throws IOException {
        if (contestant.transport() == Transport.RINGPOLL) {
            // The device has ports of its own, of which its clients use those that the system gives to sockets.
            try (Peer peer = Peer.ofLocal(config.address()); Endpoint endpoint = peer.listen(config.address(), "0")) {
                return endpoint.port();
            }
        }
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getByName(config.address()))) {
            return socket.getLocalPort();
        }
    }

    @Override
    public void close() throws IOException {
        if (client != null) {
            client.close();
        }
        for (final RaftServer server : servers) {
            server.close();
        }
        try (Stream<Path> files = Files.walk(folder)) {
            for (final Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (final UncheckedIOException e) {
            throw e.getCause();
        }
    }
}
