package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32C;
import org.apache.ratis.RaftConfigKeys;
import org.apache.ratis.client.DataStreamClient;
import org.apache.ratis.client.RaftClient;
import org.apache.ratis.client.api.DataStreamOutput;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.client.impl.DataStreamClientImpl.DataStreamOutputImpl;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.io.FilePositionCount;
import org.apache.ratis.io.StandardWriteOption;
import org.apache.ratis.protocol.DataStreamReply;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroup;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RoutingTable;
import org.apache.ratis.protocol.exceptions.DataStreamException;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Streams to three servers of the engine over this transport. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RdmaDataStreamsTest {
    private static final int SERVERS = 3;
    private static final int WAIT_S = 60;
    private static final int MB = 1 << 20;

    @TempDir
    private Path folder;
    private final List<RaftServer> servers = new ArrayList<>();
    private final List<StreamingMachine> machines = new ArrayList<>();
    private final RaftProperties settings = new RaftProperties();
    private final Map<RaftServer, RaftPeer> peers = new HashMap<>();
    private RaftGroup group;
    private RaftClient client;
    private DataStreamClient streams;

    @BeforeEach
    void start() throws IOException {
        start(settings);
    }

    private void start(final RaftProperties base) throws IOException {
        RaftConfigKeys.Rpc.setType(base, new RdmaRpcType());
        base.setBoolean(RdmaConfigKeys.COUNTERS_FILE_KEY, false);
        final List<RaftPeer> all = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            all.add(RaftPeer.newBuilder().setId("stream-s" + i).setAddress(TestDevice.address() + ":" + ConnectedPair.anyPort())
                .build());
        }
        group = RaftGroup.valueOf(RaftGroupId.randomId(), all);
        final Path storage = Files.createTempDirectory(folder, "servers");
        for (final RaftPeer peer : all) {
            final RaftProperties properties = new RaftProperties(base);
            RaftServerConfigKeys.setStorageDir(properties, List.of(storage.resolve(peer.getId().toString()).toFile()));
            RaftServerConfigKeys.Rpc.setTimeoutMin(properties, TimeDuration.valueOf(1, TimeUnit.SECONDS));
            RaftServerConfigKeys.Rpc.setTimeoutMax(properties, TimeDuration.valueOf(3, TimeUnit.SECONDS));
            // Each test waits for it; a later election would be a disturbance.
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, TimeDuration.valueOf(200, TimeUnit.MILLISECONDS));
            RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, TimeDuration.valueOf(600, TimeUnit.MILLISECONDS));
            final StreamingMachine machine = new StreamingMachine();
            final RaftServer server = RaftServer.newBuilder().setServerId(peer.getId()).setProperties(properties)
                .setGroup(group).setStateMachine(machine).build();
            server.start();
            servers.add(server);
            machines.add(machine);
            peers.put(server, peer);
        }
        client = RaftClient.newBuilder().setProperties(base).setRaftGroup(group).build();
        streams = RdmaDataStreams.newClient(client, peers.get(servers.get(0)), base);
    }

    /** Starts again with other settings. */
    private void restart() throws IOException {
        stop();
        servers.clear();
        machines.clear();
        peers.clear();
        start(settings);
    }

    @AfterEach
    void stop() throws IOException {
        machines.forEach(machine -> machine.waitFor(new CountDownLatch(0)));
        streams.close();
        client.close();
        for (final RaftServer server : servers) {
            server.close();
        }
    }

    private static ByteBuffer random(final int bytes) {
        final byte[] data = new byte[bytes];
        new Random(bytes).nextBytes(data);
        return ByteBuffer.wrap(data);
    }

    private static String digest(final ByteBuffer data) {
        final CRC32C sum = new CRC32C();
        sum.update(data.duplicate());
        return data.remaining() + " bytes, sum " + sum.getValue();
    }

    private static <T> T await(final CompletableFuture<T> future) throws Exception {
        return future.get(WAIT_S, TimeUnit.SECONDS);
    }

    private static void await(final String what, final BooleanSupplier condition) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(WAIT_S), what);
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    private static DataStreamOutputImpl open(final DataStreamClient client, final RoutingTable route) {
        return (DataStreamOutputImpl) client.stream(null, route);
    }

    private StreamingMachine.Received at(final int server, final DataStreamOutputImpl stream) {
        return machines.get(server).of(stream.getHeader());
    }

    /** The primary, then each of the others in turn. */
    private RoutingTable chain() {
        return RoutingTable.newBuilder().addSuccessor(servers.get(0).getId(), servers.get(1).getId())
            .addSuccessor(servers.get(1).getId(), servers.get(2).getId()).build();
    }

    private void assertEverywhere(final DataStreamOutputImpl stream, final String digest) throws Exception {
        final RaftClientReply reply = await(stream.getRaftClientReplyFuture());
        assertTrue(reply.isSuccess(), reply.toString());
        for (int i = 0; i < SERVERS; i++) {
            final StreamingMachine.Received received = at(i, stream);
            assertEquals(digest, received.digest(), "at server " + i);
            assertTrue(received.isClosed());
            assertTrue(received.linked().await(WAIT_S, TimeUnit.SECONDS), "the log entry at server " + i);
            assertFalse(received.isCleanedUp());
        }
    }

    @Test
    void shouldWriteEqualBytesAtAllServers() throws Exception {
        for (final RoutingTable route : new RoutingTable[] {null, chain()}) {
            for (final int bytes : new int[] {0, 1, 100_000, MB, MB + 1, 64 * MB}) {
                final ByteBuffer data = random(bytes);
                final DataStreamOutputImpl stream = open(streams, route);
                final DataStreamReply reply = await(stream.writeAsync(data.duplicate()));
                assertTrue(reply.isSuccess());
                assertEquals(bytes, reply.getBytesWritten());
                assertTrue(await(stream.closeAsync()).isSuccess());
                assertEverywhere(stream, digest(data));
            }
        }
    }

    @Test
    void shouldCloseAStreamWithoutData() throws Exception {
        final DataStreamOutputImpl stream = open(streams, null);
        assertTrue(await(stream.closeAsync()).isSuccess());
        assertEverywhere(stream, digest(random(0)));
    }

    @Test
    void shouldCloseWithTheLastDataAndForceOnDemand() throws Exception {
        final ByteBuffer data = random(3 * MB);
        final DataStreamOutputImpl stream = open(streams, null);
        assertTrue(await(stream.writeAsync(data.slice(0, MB))).isSuccess());
        assertEquals(0, at(1, stream).forced());
        final DataStreamReply reply = await(stream.writeAsync(
            data.slice(MB, 2 * MB), StandardWriteOption.SYNC, StandardWriteOption.CLOSE));
        assertTrue(reply.isSuccess());
        assertEverywhere(stream, digest(data));
        assertEquals(3 * MB, at(0, stream).forced());
        assertEquals(3 * MB, at(2, stream).forced());
    }

    @Test
    void shouldWritePartsOfFiles() throws Exception {
        final ByteBuffer data = random(5 * MB);
        final Path file = Files.write(folder.resolve("data"), data.array());
        final DataStreamOutputImpl stream = open(streams, null);
        final DataStreamReply reply = await(stream.writeAsync(FilePositionCount.valueOf(file.toFile(), 7, 4 * MB)));
        assertEquals(4 * MB, reply.getBytesWritten());
        await(stream.closeAsync());
        assertEverywhere(stream, digest(data.slice(7, 4 * MB)));
    }

    @Test
    void shouldKeepTheOrderOfManyWritesOfSeveralStreams() throws Exception {
        final List<DataStreamOutputImpl> open = new ArrayList<>();
        final List<DataStreamClient> clients = new ArrayList<>(List.of(streams));
        for (int i = 1; i < SERVERS; i++) {
            clients.add(RdmaDataStreams.newClient(client, peers.get(servers.get(i)), settings));
        }
        for (int i = 0; i < 2 * SERVERS; i++) {
            open.add(open(clients.get(i % SERVERS), null));
        }
        final ByteBuffer data = random(8 * MB);
        final Random lengths = new Random(1);
        for (int from = 0; from < data.limit(); ) {
            final int bytes = Math.min(lengths.nextInt(300_000), data.limit() - from);
            for (final DataStreamOutput each : open) {
                each.writeAsync(data.slice(from, bytes));
            }
            from += bytes;
        }
        for (final DataStreamOutputImpl each : open) {
            assertTrue(await(each.closeAsync()).isSuccess());
            assertEverywhere(each, digest(data));
        }
        for (final DataStreamClient each : clients) {
            each.close();
        }
    }

    @Test
    void shouldHoldTheWriterBackWhileAStateMachineIsSlow() throws Exception {
        RdmaStreamConfigKeys.setPacketSize(settings, SizeInBytes.valueOf("64KB"));
        RdmaStreamConfigKeys.setWindow(settings, SizeInBytes.ONE_MB);
        restart();
        final CountDownLatch gate = new CountDownLatch(1);
        machines.get(2).waitFor(gate);
        final ByteBuffer data = random(4 * MB);
        final DataStreamOutputImpl stream = open(streams, null);
        assertTrue(await(stream.getHeaderFuture()).isSuccess());
        final CompletableFuture<DataStreamReply> written = new CompletableFuture<>();
        final Thread writer = Thread.ofPlatform().start(() -> stream.writeAsync(data.duplicate())
            .whenComplete((reply, failure) -> written.complete(reply)));
        await("the writer waits", () -> writer.getState() == Thread.State.TIMED_WAITING && machines.get(0).bytes() > 0);
        assertTrue(machines.get(0).bytes() <= MB, machines.get(0).bytes() + " bytes");
        assertEquals(0, machines.get(2).bytes());
        gate.countDown();
        assertTrue(await(written).isSuccess());
        assertTrue(await(stream.closeAsync()).isSuccess());
        assertEverywhere(stream, digest(data));
    }

    @Test
    void shouldReportAFailureOfAStateMachineAndCleanUpEverywhere() throws Exception {
        final DataStreamOutputImpl stream = open(streams, null);
        assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
        machines.get(1).fail(new IOException("the disk is full"));
        final DataStreamReply reply = await(stream.writeAsync(random(MB)));
        assertFalse(reply.isSuccess());
        assertCleanedUp(stream, 0, 1, 2);
        // Other streams are not affected.
        machines.get(1).fail(null);
        final DataStreamOutputImpl next = open(streams, null);
        assertTrue(await(next.writeAsync(random(MB))).isSuccess());
        assertTrue(await(next.closeAsync()).isSuccess());
        assertEverywhere(next, digest(random(MB)));
    }

    private void assertCleanedUp(final DataStreamOutputImpl stream, final int... where) throws InterruptedException {
        for (final int server : where) {
            assertTrue(at(server, stream).cleanedUp().await(WAIT_S, TimeUnit.SECONDS), "clean-up at server " + server);
        }
    }

    @Test
    void shouldFailTheStreamIfASuccessorIsKilled() throws Exception {
        final DataStreamOutputImpl stream = open(streams, null);
        assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
        servers.get(2).close();
        final DataStreamReply reply = await(stream.writeAsync(random(MB)));
        assertFalse(reply.isSuccess());
        final RaftClientReply inside = ClientProtoUtils.getRaftClientReply(reply);
        assertInstanceOf(DataStreamException.class, inside.getException());
        assertCleanedUp(stream, 0, 1, 2);
    }

    @Test
    void shouldFailTheStreamIfThePrimaryIsKilled() throws Exception {
        final DataStreamOutputImpl stream = open(streams, null);
        assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
        servers.get(0).close();
        final ExecutionException failure =
            assertThrows(ExecutionException.class, () -> await(stream.writeAsync(random(MB))));
        assertInstanceOf(IOException.class, failure.getCause());
        assertCleanedUp(stream, 0, 1, 2);
    }

    @Test
    void shouldCleanUpTheStreamsOfAClientThatVanishes() throws Exception {
        final DataStreamOutputImpl stream = open(streams, chain());
        assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
        stream.writeAsync(random(8 * MB));
        streams.close();
        assertCleanedUp(stream, 0, 1, 2);
    }

    @Test
    void shouldCleanUpIdleStreamsAndThoseWithoutLogEntry() throws Exception {
        RdmaStreamConfigKeys.setIdleTimeout(settings, TimeDuration.valueOf(3, TimeUnit.SECONDS));
        RaftConfigKeys.DataStream.setSkipSendForward(settings, true);
        restart();
        final DataStreamOutputImpl idle = open(streams, null);
        final DataStreamOutputImpl closed = open(streams, null);
        assertTrue(await(idle.writeAsync(random(10))).isSuccess());
        assertTrue(await(closed.closeAsync()).isSuccess());
        assertCleanedUp(idle, 0, 1, 2);
        assertCleanedUp(closed, 0, 1, 2);
        assertFalse(await(idle.writeAsync(random(10))).isSuccess());
    }

    @Test
    void shouldRequireAClientOfThisTransport() throws IOException {
        final RaftProperties other = new RaftProperties();
        RaftConfigKeys.Rpc.setType(other, SupportedRpcType.NETTY);
        try (RaftClient netty = RaftClient.newBuilder().setProperties(other).setRaftGroup(group).build()) {
            final IllegalArgumentException failure = assertThrows(IllegalArgumentException.class,
                () -> RdmaDataStreams.newClient(netty, peers.get(servers.get(0)), other));
            assertTrue(failure.getMessage().contains("raft.rpc.type"), failure.getMessage());
        }
    }
}
