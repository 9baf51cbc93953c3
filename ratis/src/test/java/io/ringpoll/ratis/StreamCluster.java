package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32C;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.impl.DataStreamClientImpl.DataStreamOutputImpl;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RoutingTable;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;

/** Servers of the engine that take streams over this transport, and a client. */
final class StreamCluster implements AutoCloseable {
    static final int WAIT_S = 60;

    private final List<RaftServer> servers = new ArrayList<>();
    private final List<StreamingMachine> machines = new ArrayList<>();
    private final List<RaftPeer> peers = new ArrayList<>();
    private final RaftProperties settings;
    private final RaftGroup group;
    private final RaftClient client;
    private final DataStreamClient streams;

    StreamCluster(final Path folder, final RaftProperties settings, final int count) throws IOException {
        this(folder, settings, Collections.nCopies(count, RdmaConfig.api(settings)));
    }

    /** Servers with bindings that may differ from the client's. */
    StreamCluster(final Path folder, final RaftProperties settings, final List<RdmaApi> apis) throws IOException {
        this.settings = settings;
        RaftConfigKeys.Rpc.setType(settings, new RdmaRpcType());
        settings.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        for (int i = 0; i < apis.size(); i++) {
            peers.add(RaftPeer.newBuilder().setId("stream-s" + i)
                .setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort()).build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), peers);
        final Path storage = Files.createTempDirectory(folder, "servers");
        for (final RaftPeer peer : peers) {
            final RaftProperties properties = new RaftProperties(settings);
            RdmaConfigKeys.setApi(properties, apis.get(servers.size()).toString());
            RaftServerConfigKeys.setStorageDir(properties, List.of(storage.resolve(peer.getId().toString()).toFile()));
            // The first leader is elected soon, and remains leader on a busy machine.
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, TimeDuration.valueOf(50, TimeUnit.MILLISECONDS));
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, TimeDuration.valueOf(250, TimeUnit.MILLISECONDS));
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(3, TimeUnit.SECONDS));
            final StreamingMachine machine = new StreamingMachine();
            final RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties)
                .setGroup(group).setStateMachine(machine).build();
            server.start();
            servers.add(server);
            machines.add(machine);
        }
        client = RaftClient.newBuilder().setProperties(settings).setRaftGroup(group).build();
        streams = newClient(0);
    }

    static ByteBuffer random(final int bytes) {
        final byte[] data = new byte[bytes];
        new Random(bytes).nextBytes(data);
        return ByteBuffer.wrap(data);
    }

    static String digest(final ByteBuffer data) {
        final CRC32C sum = new CRC32C();
        sum.update(data.duplicate());
        return data.remaining() + " bytes, sum " + sum.getValue();
    }

    static <T> T await(final CompletableFuture<T> future) throws Exception {
        return future.get(WAIT_S, TimeUnit.SECONDS);
    }

    RaftServer server(final int server) {
        return servers.get(server);
    }

    StreamingMachine machine(final int server) {
        return machines.get(server);
    }

    RaftPeer peer(final int server) {
        return peers.get(server);
    }

    RaftGroup group() {
        return group;
    }

    /** Another client with a server as its primary. */
    DataStreamClient newClient(final int primary) {
        return RdmaDataStreams.newClient(client, peers.get(primary), settings);
    }

    DataStreamClient streams() {
        return streams;
    }

    DataStreamOutputImpl open(final RoutingTable route) {
        return (DataStreamOutputImpl) streams.stream(null, route);
    }

    /** Each server forwards to the next one. */
    RoutingTable chain() {
        final RoutingTable.Builder route = RoutingTable.newBuilder();
        for (int i = 1; i < servers.size(); i++) {
            route.addSuccessor(servers.get(i - 1).getId(), servers.get(i).getId());
        }
        return route.build();
    }

    StreamingMachine.Received at(final int server, final DataStreamOutputImpl stream) {
        return machines.get(server).of(stream.getHeader());
    }

    /** Asserts that all servers have the same complete stream with its log entry. */
    void assertEverywhere(final DataStreamOutputImpl stream, final String digest) throws Exception {
        final RaftClientReply reply = await(stream.getRaftClientReplyFuture());
        assertTrue(reply.isSuccess(), reply.toString());
        for (int i = 0; i < servers.size(); i++) {
            final StreamingMachine.Received received = at(i, stream);
            assertEquals(digest, received.digest(), "at server " + i);
            assertTrue(received.isClosed());
            assertTrue(received.linked().await(WAIT_S, TimeUnit.SECONDS), "the log entry at server " + i);
            assertFalse(received.isCleanedUp());
        }
    }

    /** Writes a stream of one server or of all, and asserts that it arrives. */
    void assertServed() throws Exception {
        final ByteBuffer data = random(1 << 20);
        final DataStreamOutputImpl stream = open(null);
        assertTrue(await(stream.writeAsync(data.duplicate())).isSuccess());
        assertTrue(await(stream.closeAsync()).isSuccess());
        assertEverywhere(stream, digest(data));
    }

    void assertCleanedUpEverywhere(final DataStreamOutputImpl stream) throws InterruptedException {
        for (int i = 0; i < servers.size(); i++) {
            assertTrue(at(i, stream).cleanedUp().await(WAIT_S, TimeUnit.SECONDS), "clean-up at server " + i);
        }
    }

    @Override
    public void close() throws IOException {
        machines.forEach(machine -> machine.waitFor(new CountDownLatch(0)));
        streams.close();
        client.close();
        for (final RaftServer server : servers) {
            server.close();
        }
    }
}
