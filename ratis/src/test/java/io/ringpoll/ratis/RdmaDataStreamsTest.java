package io.ringpoll.ratis;

import static io.ringpoll.ratis.StreamCluster.await;
import static io.ringpoll.ratis.StreamCluster.digest;
import static io.ringpoll.ratis.StreamCluster.random;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.management.JMException;
import javax.management.ObjectName;
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
import org.apache.ratis.protocol.RoutingTable;
import org.apache.ratis.protocol.exceptions.DataStreamException;
import org.apache.ratis.rpc.SupportedRpcType;
import org.apache.ratis.thirdparty.io.netty.buffer.ByteBuf;
import org.apache.ratis.thirdparty.io.netty.buffer.Unpooled;
import org.apache.ratis.util.SizeInBytes;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.TimeoutExecutor;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Streams to three servers of the engine over this transport. Tests that change or kill servers have servers of their own. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class RdmaDataStreamsTest {
    private static final int SERVERS = 3;
    private static final int MB = 1 << 20;

    @TempDir
    private static Path folder;
    private static StreamCluster cluster;

    @BeforeAll
    static void start() throws IOException {
        cluster = new StreamCluster(folder, new RaftProperties(), SERVERS);
    }

    @AfterAll
    static void stop() throws IOException {
        cluster.close();
    }

    private static StreamCluster own(final RaftProperties settings) throws IOException {
        return new StreamCluster(folder, settings, SERVERS);
    }

    private static void awaitThat(final String what, final BooleanSupplier condition) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(StreamCluster.WAIT_S), what);
            TimeUnit.MILLISECONDS.sleep(1);
        }
    }

    @Test
    void shouldWriteEqualBytesAtAllServers() throws Exception {
        assertWritesEqualBytes(cluster, 20 * MB);
    }

    @ParameterizedTest
    @CsvSource({"VERBS,VERBS,VERBS", "VERBS,RPMA,VERBS", "RPMA,VERBS,RPMA"})
    void shouldWriteEqualBytesOverVerbs(final RdmaApi first, final RdmaApi second, final RdmaApi third) throws Exception {
        final RaftProperties settings = new RaftProperties();
        RdmaConfigKeys.setApi(settings, RdmaApi.VERBS.toString());
        try (StreamCluster own = new StreamCluster(folder, settings, List.of(first, second, third))) {
            assertWritesEqualBytes(own, 3 * MB);
        }
    }

    private static void assertWritesEqualBytes(final StreamCluster at, final int longest) throws Exception {
        for (final RoutingTable route : new RoutingTable[] {null, at.chain()}) {
            for (final int bytes : new int[] {0, 1, 100_000, MB, MB + 1, longest}) {
                final ByteBuffer data = random(bytes);
                final DataStreamOutputImpl stream = at.open(route);
                final DataStreamReply reply = await(stream.writeAsync(data.duplicate()));
                assertTrue(reply.isSuccess());
                assertEquals(bytes, reply.getBytesWritten());
                assertTrue(await(stream.closeAsync()).isSuccess());
                at.assertEverywhere(stream, digest(data));
            }
        }
    }

    @Test
    void shouldCloseAStreamWithoutData() throws Exception {
        final DataStreamOutputImpl stream = cluster.open(null);
        assertTrue(await(stream.closeAsync()).isSuccess());
        cluster.assertEverywhere(stream, digest(random(0)));
    }

    @Test
    void shouldCloseWithTheLastDataAndForceOnDemand() throws Exception {
        final ByteBuffer data = random(3 * MB);
        final DataStreamOutputImpl stream = cluster.open(null);
        assertTrue(await(stream.writeAsync(data.slice(0, MB))).isSuccess());
        assertEquals(0, cluster.at(1, stream).forced());
        final DataStreamReply reply = await(stream.writeAsync(
            data.slice(MB, 2 * MB), StandardWriteOption.SYNC, StandardWriteOption.CLOSE));
        assertTrue(reply.isSuccess());
        cluster.assertEverywhere(stream, digest(data));
        assertEquals(3 * MB, cluster.at(0, stream).forced());
        assertEquals(3 * MB, cluster.at(2, stream).forced());
    }

    @Test
    void shouldWritePartsOfFiles() throws Exception {
        final ByteBuffer data = random(5 * MB);
        final Path file = Files.write(folder.resolve("data"), data.array());
        final DataStreamOutputImpl stream = cluster.open(null);
        final DataStreamReply reply = await(stream.writeAsync(FilePositionCount.valueOf(file.toFile(), 7, 4 * MB)));
        assertEquals(4 * MB, reply.getBytesWritten());
        await(stream.closeAsync());
        cluster.assertEverywhere(stream, digest(data.slice(7, 4 * MB)));
    }

    @Test
    void shouldWriteBuffersOfSeveralParts() throws Exception {
        final ByteBuffer data = random(3 * MB);
        final ByteBuf buffer =
            Unpooled.wrappedBuffer(data.slice(0, 100), data.slice(100, MB), data.slice(100 + MB, 2 * MB - 100));
        final DataStreamOutputImpl stream = cluster.open(null);
        assertEquals(3 * MB, await(stream.writeAsync(buffer, List.of(StandardWriteOption.CLOSE))).getBytesWritten());
        cluster.assertEverywhere(stream, digest(data));
        assertEquals(0, buffer.refCnt());
    }

    @Test
    void shouldKeepTheOrderOfManyWritesOfSeveralStreams() throws Exception {
        final List<DataStreamOutputImpl> open = new ArrayList<>();
        final List<DataStreamClient> clients = new ArrayList<>();
        for (int i = 0; i < SERVERS; i++) {
            clients.add(cluster.newClient(i));
        }
        for (int i = 0; i < 2 * SERVERS; i++) {
            open.add((DataStreamOutputImpl) clients.get(i % SERVERS).stream());
        }
        final ByteBuffer data = random(4 * MB);
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
            cluster.assertEverywhere(each, digest(data));
        }
        for (final DataStreamClient each : clients) {
            each.close();
        }
    }

    @Test
    void shouldHoldTheWriterBackWhileAStateMachineIsSlow() throws Exception {
        final RaftProperties settings = new RaftProperties();
        RdmaStreamConfigKeys.setPacketSize(settings, SizeInBytes.valueOf("64KB"));
        RdmaStreamConfigKeys.setWindow(settings, SizeInBytes.ONE_MB);
        try (StreamCluster own = own(settings)) {
            final CountDownLatch gate = new CountDownLatch(1);
            own.machine(2).waitFor(gate);
            final ByteBuffer data = random(4 * MB);
            final DataStreamOutputImpl stream = own.open(null);
            assertTrue(await(stream.getHeaderFuture()).isSuccess());
            final CompletableFuture<DataStreamReply> written = new CompletableFuture<>();
            final Thread writer = Thread.ofPlatform().start(() -> stream.writeAsync(data.duplicate())
                .whenComplete((reply, failure) -> written.complete(reply)));
            awaitThat("the writer waits",
                () -> writer.getState() == Thread.State.TIMED_WAITING && own.machine(0).bytes() > 0);
            assertTrue(own.machine(0).bytes() <= MB, own.machine(0).bytes() + " bytes");
            assertEquals(0, own.machine(2).bytes());
            gate.countDown();
            assertTrue(await(written).isSuccess());
            assertTrue(await(stream.closeAsync()).isSuccess());
            own.assertEverywhere(stream, digest(data));
        }
    }

    @Test
    void shouldReportAFailureOfAStateMachineAndCleanUpEverywhere() throws Exception {
        final DataStreamOutputImpl stream = cluster.open(null);
        assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
        cluster.machine(1).fail(new IOException("the disk is full"));
        assertTrue(failure(await(stream.writeAsync(random(MB)))).contains("the disk is full"));
        cluster.assertCleanedUpEverywhere(stream);
        // The reply to a later write has the same reason.
        assertTrue(failure(await(stream.writeAsync(random(MB)))).contains("the disk is full"));
        // Other streams are not affected.
        cluster.machine(1).fail(null);
        cluster.assertServed();
    }

    private static String failure(final DataStreamReply reply) {
        assertFalse(reply.isSuccess());
        final Throwable failure = ClientProtoUtils.getRaftClientReply(reply).getException();
        assertInstanceOf(DataStreamException.class, failure);
        return Stream.iterate(failure, Objects::nonNull, Throwable::getCause).map(Throwable::toString)
            .collect(Collectors.joining("; "));
    }

    @Test
    void shouldFailTheStreamIfASuccessorIsKilled() throws Exception {
        try (StreamCluster own = own(new RaftProperties())) {
            final DataStreamOutputImpl stream = own.open(null);
            assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
            own.server(2).close();
            failure(await(stream.writeAsync(random(MB))));
            own.assertCleanedUpEverywhere(stream);
            // A stream that cannot be opened at all servers fails no later than its close.
            final DataStreamOutputImpl next = own.open(null);
            failure(await(next.closeAsync()));
            assertTrue(own.at(0, next).cleanedUp().await(StreamCluster.WAIT_S, TimeUnit.SECONDS));
        }
    }

    @Test
    void shouldFailAllWritesOfAStreamThatCannotBeOpened() throws Exception {
        try (StreamCluster own = own(new RaftProperties())) {
            own.server(0).close();
            final DataStreamOutputImpl stream = own.open(null);
            final List<CompletableFuture<DataStreamReply>> replies = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                replies.add(stream.writeAsync(random(100)));
            }
            replies.add(stream.closeAsync());
            // Neither of them waits for ever.
            for (final CompletableFuture<DataStreamReply> reply : replies) {
                final Object end = await(reply.handle((success, failure) -> failure == null ? success.isSuccess() : failure));
                assertTrue(end.equals(false) || end instanceof Throwable, end::toString);
            }
            assertFalse(await(stream.getHeaderFuture()).isSuccess());
        }
    }

    @Test
    void shouldFailTheStreamIfThePrimaryIsKilled() throws Exception {
        try (StreamCluster own = own(new RaftProperties())) {
            final DataStreamOutputImpl stream = own.open(null);
            assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
            own.server(0).close();
            final ExecutionException failure =
                assertThrows(ExecutionException.class, () -> await(stream.writeAsync(random(MB))));
            assertInstanceOf(IOException.class, failure.getCause());
            own.assertCleanedUpEverywhere(stream);
        }
    }

    @Test
    void shouldCleanUpTheStreamsOfAClientThatVanishes() throws Exception {
        final DataStreamOutputImpl stream;
        try (DataStreamClient vanishing = cluster.newClient(0)) {
            stream = (DataStreamOutputImpl) vanishing.stream(null, cluster.chain());
            assertTrue(await(stream.writeAsync(random(MB))).isSuccess());
            stream.writeAsync(random(8 * MB));
        }
        cluster.assertCleanedUpEverywhere(stream);
    }

    @Test
    void shouldCleanUpIdleStreamsAndThoseWithoutLogEntry() throws Exception {
        final RaftProperties settings = new RaftProperties();
        RdmaStreamConfigKeys.setIdleTimeout(settings, TimeDuration.valueOf(3, TimeUnit.SECONDS));
        RaftConfigKeys.DataStream.setSkipSendForward(settings, true);
        try (StreamCluster own = own(settings)) {
            final DataStreamOutputImpl idle = openUntil(own, stream -> stream.writeAsync(random(10)));
            final DataStreamOutputImpl closed = openUntil(own, DataStreamOutputImpl::closeAsync);
            own.assertCleanedUpEverywhere(idle);
            own.assertCleanedUpEverywhere(closed);
            failure(await(idle.writeAsync(random(10))));
        }
    }

    /** Opens streams until a write succeeds: on a busy machine, the time-out may pass between the header and the write. */
    private static DataStreamOutputImpl openUntil(final StreamCluster own,
        final Function<DataStreamOutputImpl, CompletableFuture<DataStreamReply>> write) throws Exception {
        DataStreamOutputImpl stream;
        do {
            stream = own.open(null);
        } while (!await(write.apply(stream)).isSuccess());
        return stream;
    }

    @Test
    void shouldHaveOneTaskInTheTimerForAStreamOfAServer() throws Exception {
        final int streams = 10;
        cluster.assertServed();
        final int before = TimeoutExecutor.getInstance().getTaskCount();
        for (int i = 0; i < streams; i++) {
            cluster.assertServed();
        }
        // Each stream is one of all three servers. Requests have time-outs, too, but shorter ones.
        awaitThat("the end of other tasks than one for a stream",
            () -> TimeoutExecutor.getInstance().getTaskCount() - before <= streams * 4);
    }

    /** The engine's timer keeps a task until its time, which is 10 minutes. */
    @Test
    void shouldNotRetainStreamsThatHaveEnded() throws Exception {
        final long before = sessions();
        for (int i = 0; i < 5; i++) {
            cluster.assertServed();
        }
        final DataStreamOutputImpl failed = cluster.open(null);
        assertTrue(await(failed.writeAsync(random(10))).isSuccess());
        cluster.machine(1).fail(new IOException("the disk is full"));
        failure(await(failed.writeAsync(random(10))));
        cluster.assertCleanedUpEverywhere(failed);
        cluster.machine(1).fail(null);
        awaitThat("the end of all references to ended streams", () -> sessions() <= before);
    }

    /** The number of reachable sessions in this process, of all servers. */
    private static long sessions() {
        try {
            final String histogram = (String) ManagementFactory.getPlatformMBeanServer().invoke(
                new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
                new Object[] {new String[0]}, new String[] {String[].class.getName()});
            return histogram.lines().map(line -> line.trim().split("\\s+"))
                .filter(columns -> columns.length >= 4 && columns[3].equals(StreamSession.class.getName()))
                .mapToLong(columns -> Long.parseLong(columns[1])).sum();
        } catch (final JMException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void shouldRequireAClientOfThisTransport() throws IOException {
        final RaftProperties other = new RaftProperties();
        RaftConfigKeys.Rpc.setType(other, SupportedRpcType.NETTY);
        try (RaftClient netty = RaftClient.newBuilder().setProperties(other).setRaftGroup(cluster.group()).build()) {
            final IllegalArgumentException failure = assertThrows(IllegalArgumentException.class,
                () -> RdmaDataStreams.newClient(netty, cluster.peer(0), other));
            assertTrue(failure.getMessage().contains("raft.rpc.type"), failure.getMessage());
        }
    }
}
