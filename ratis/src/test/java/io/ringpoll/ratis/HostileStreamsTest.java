package io.ringpoll.ratis;

import static io.ringpoll.ratis.StreamCluster.WAIT_S;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.Link;
import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.StreamPacket;
import io.ringpoll.internal.transport.StreamPacket.Content;
import io.ringpoll.internal.transport.StreamPacket.Identity;
import io.ringpoll.internal.transport.StreamPacket.Kind;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.internal.transport.Warnings;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.Message;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.NetUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Packets of a client that violates the rules of streams, over a real connection to a server of the engine. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class HostileStreamsTest {
    private static final int MOST_STREAMS = 16;
    private static final int ROUNDS = 6;
    private static final int PACKETS = 60;
    private static final long[] OFFSETS = {0, 0, 0, 1, 10, -1, 1 << 20, Long.MAX_VALUE, Long.MIN_VALUE};
    private static final int[] LENGTHS = {0, 1, 10, 5_000, 200_000, 1 << 20};

    @TempDir
    private Path folder;
    private final ClientId client = ClientId.randomId();
    private final Random random = new Random(4711);
    private StreamCluster cluster;
    private RcPeer device;
    private Node node;
    private Link link;

    @BeforeEach
    void open() throws IOException {
        final RaftProperties settings = new RaftProperties();
        RdmaConfigKeys.setLinkRequestsMax(settings, MOST_STREAMS);
        cluster = new StreamCluster(folder, settings, 1);
        device = RdmaApi.RPMA.ofLocal(TestDevice.address());
        node = new Node(RdmaConfig.nodeConfig(new RaftProperties(), "hostile", false), device,
            (type, request) -> CompletableFuture.failedFuture(new IOException("not me")), new TransportCounters());
        link = connect();
    }

    /** In every case a well-behaved client is served, and all memory returns. */
    @AfterEach
    void close() throws Exception {
        try {
            cluster.assertServed();
        } finally {
            cluster.close();
            node.close();
        }
        assertTrue(device.isClosed());
    }

    private Link connect() throws IOException {
        return node.connect(TestDevice.address(), NetUtils.createSocketAddr(cluster.peer(0).getAddress()).getPort(), "server");
    }

    private Identity identity(final long stream) {
        return new Identity(client.getUuid(), stream);
    }

    private CompletableFuture<MessageLite> send(final long stream, final long offset, final Kind kind, final boolean close,
        final byte[] data) {
        final Content content = target -> target.put(data);
        return link.request(MessageType.DATA_STREAM,
            StreamPacket.toSend(identity(stream), offset, kind, false, close, data.length, content)).future();
    }

    private CompletableFuture<MessageLite> data(final long stream, final long offset, final int bytes) {
        return send(stream, offset, Kind.DATA, false, new byte[bytes]);
    }

    private byte[] header(final long stream) {
        return ClientProtoUtils.toRaftClientRequestProto(RaftClientRequest.newBuilder().setClientId(client)
            .setServerId(cluster.server(0).getId()).setGroupId(cluster.group().getGroupId()).setCallId(stream)
            .setMessage(Message.EMPTY).setType(RaftClientRequest.dataStreamRequestType()).build()).toByteArray();
    }

    private void open(final long stream) throws Exception {
        StreamCluster.await(send(stream, 0, Kind.HEADER, false, header(stream)));
    }

    private StreamingMachine.Received received(final long stream) {
        return cluster.machine(0).of(ClientInvocationId.valueOf(client, stream));
    }

    private void assertCleanedUp(final long stream) throws InterruptedException {
        assertTrue(received(stream).cleanedUp().await(WAIT_S, TimeUnit.SECONDS), "clean-up of stream " + stream);
    }

    /** Asserts that a packet is refused, and that the connection remains. */
    private void assertRefused(final CompletableFuture<MessageLite> reply, final String reason) {
        final Throwable refusal = assertThrows(ExecutionException.class, () -> StreamCluster.await(reply)).getCause();
        assertInstanceOf(IOException.class, refusal);
        final List<String> texts =
            Stream.iterate(refusal, failure -> failure != null, Throwable::getCause).map(Throwable::toString).toList();
        assertTrue(texts.stream().anyMatch(text -> text.contains(reason)), texts::toString);
        assertTrue(link.isOpen());
    }

    @Test
    void shouldRefusePacketsOfUnknownStreams() throws Exception {
        assertRefused(data(1, 0, 10), "not open");
        assertRefused(data(2, 0, 1 << 20), "not open");
        assertRefused(send(3, 0, Kind.DATA, true, new byte[0]), "not open");
        StreamCluster.await(send(4, 0, Kind.ABORT, false, new byte[1 << 20]));
    }

    @Test
    void shouldEndAStreamWhoseDataLeaveAGapOrOverlap() throws Exception {
        long stream = 0;
        for (final long offset : new long[] {0, 9, 11, 1 << 20, -1, Long.MAX_VALUE, Long.MIN_VALUE}) {
            for (final int bytes : new int[] {5, 300_000}) {
                open(++stream);
                StreamCluster.await(data(stream, 0, 10));
                assertRefused(data(stream, offset, bytes), "does not follow");
                assertCleanedUp(stream);
                assertRefused(data(stream, 10, bytes), "does not follow");
                assertTrue(received(stream).digest().startsWith("10 bytes"), received(stream).digest());
            }
        }
    }

    @Test
    void shouldRefuseDataAfterTheClose() throws Exception {
        open(1);
        StreamCluster.await(send(1, 0, Kind.DATA, true, new byte[10]));
        assertRefused(data(1, 10, 10), "not open");
        assertRefused(send(1, 10, Kind.DATA, true, new byte[0]), "not open");
        assertTrue(received(1).digest().startsWith("10 bytes"), received(1).digest());
    }

    @Test
    void shouldRefuseHeadersThatAreInvalidOrRepeated() throws Exception {
        assertRefused(send(1, 0, Kind.HEADER, false, new byte[] {1, 2, 3}), "");
        assertRefused(send(1, 0, Kind.HEADER, false, new byte[200_000]), "");
        assertRefused(send(1, 0, Kind.HEADER, false, header(2)), "a header of");
        open(1);
        assertRefused(send(1, 0, Kind.HEADER, false, header(1)), "open already");
        StreamCluster.await(data(1, 0, 10));
        StreamCluster.await(send(1, 0, Kind.ABORT, false, new byte[0]));
        assertCleanedUp(1);
    }

    @Test
    void shouldReportFailedStreamsEverMoreRarely() throws Exception {
        try (Warnings warnings = new Warnings(StreamServer.class)) {
            for (int stream = 1; stream <= 5; stream++) {
                open(stream);
                assertRefused(data(stream, 1, 10), "does not follow");
            }
            assertEquals(3, warnings.times(" ends: "));
            assertTrue(warnings.contains("(4 failed)"));
        }
    }

    @Test
    void shouldLimitTheOpenStreamsOfAConnection() throws Exception {
        for (int i = 1; i <= MOST_STREAMS; i++) {
            open(i);
        }
        assertRefused(send(99, 0, Kind.HEADER, false, header(99)), RdmaConfigKeys.LINK_REQUESTS_MAX_KEY);
        StreamCluster.await(send(1, 0, Kind.ABORT, false, new byte[0]));
        open(99);
        link.fail(new IOException("gone"));
        for (int i = 1; i <= MOST_STREAMS; i++) {
            assertCleanedUp(i);
        }
        assertCleanedUp(99);
    }

    @Test
    void shouldCleanUpAfterAClientThatVanishesWhileAServerIsSlow() throws Exception {
        final CountDownLatch gate = new CountDownLatch(1);
        open(1);
        cluster.machine(0).waitFor(gate);
        final List<CompletableFuture<MessageLite>> replies = new ArrayList<>();
        for (int i = 0; i < MOST_STREAMS; i++) {
            replies.add(data(1, i * 100_000L, 100_000));
        }
        link.fail(new IOException("gone"));
        for (final CompletableFuture<MessageLite> reply : replies) {
            assertThrows(ExecutionException.class, () -> StreamCluster.await(reply));
        }
        gate.countDown();
        assertCleanedUp(1);
    }

    @Test
    void shouldSurviveRandomPackets() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            final List<CompletableFuture<MessageLite>> replies = new ArrayList<>();
            for (int i = 0; i < PACKETS && link.isOpen(); i++) {
                final long stream = 100L * round + random.nextInt(4);
                final int bytes = LENGTHS[random.nextInt(LENGTHS.length)];
                replies.add(switch (random.nextInt(8)) {
                    case 0, 1 -> send(stream, 0, Kind.HEADER, random.nextBoolean(), header(stream));
                    case 2 -> send(stream, 0, Kind.ABORT, random.nextBoolean(), new byte[bytes]);
                    case 3 -> send(stream, 0, Kind.HEADER, false, new byte[bytes]);
                    default -> send(stream, OFFSETS[random.nextInt(OFFSETS.length)], Kind.DATA, random.nextInt(9) == 0,
                        new byte[bytes]);
                });
                if (i % MOST_STREAMS == MOST_STREAMS - 1) {
                    // The number of requests of the connection is limited.
                    awaitEnds(replies);
                }
            }
            if (round % 2 == 0) {
                link.fail(new IOException("gone"));
            }
            awaitEnds(replies);
            if (!link.isOpen()) {
                link = connect();
            }
        }
    }

    private static void awaitEnds(final List<CompletableFuture<MessageLite>> replies) throws Exception {
        for (final CompletableFuture<MessageLite> reply : replies) {
            StreamCluster.await(reply.handle((message, failure) -> null));
        }
    }
}
