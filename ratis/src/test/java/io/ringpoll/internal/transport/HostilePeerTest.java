package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A peer that uses librpma but violates the transport's protocol loses its connection, and other peers do not. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class HostilePeerTest {
    private final Nodes nodes;
    private Nodes.Server server;
    private Link honest;

    HostilePeerTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @BeforeEach
    void open() throws Exception {
        server = nodes.server(Nodes::echo);
        honest = Nodes.connect(nodes.client(), server.port());
    }

    @AfterEach
    void close() throws Exception {
        // In every case an honest peer is not affected.
        for (int i = 0; i < 3 * Nodes.CREDITS; i++) {
            Nodes.assertEchoed(honest, Nodes.random(i % 2 == 0 ? 10 : 100_000));
        }
        nodes.close();
    }

    @Test
    void shouldRejectAPeerWithAnInvalidHello() throws Exception {
        try (Peer peer = Peer.ofRemote(TestDevice.address());
            ConnectionRequest request = peer.request(TestDevice.address(), Integer.toString(server.port()));
            Connection connection = request.connect(new byte[] {1, 2, 3})) {
            assertEquals(Optional.of(ConnectionEvent.REJECTED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
        }
        Nodes.await("a rejection", () -> server.counters().value(Count.CONNECTIONS_REJECTED) == 1);
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsGarbage() {
        assertConnectionLost(buffer -> {
            buffer.putLong(0, 0xDEAD_BEEF_DEAD_BEEFL);
            return 100;
        });
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsAnIncompleteHeader() {
        assertConnectionLost(buffer -> 3);
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsAnInvalidMessage() {
        assertConnectionLost(buffer -> {
            new FrameHeader(FrameKind.REQUEST, MessageType.REQUEST_VOTE.code(), (byte) 0, 0, 1, 50, 50).write(buffer);
            for (int i = 0; i < 50; i++) {
                buffer.put(FrameHeader.LENGTH_BYTES + i, (byte) 0xFF);
            }
            return FrameHeader.LENGTH_BYTES + 50;
        });
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsAFrameLongerThanAgreed() {
        assertConnectionLost(buffer -> {
            final int payload = Nodes.BUFFER_BYTES + 1 - FrameHeader.LENGTH_BYTES;
            final int overhead = Nodes.request(Nodes.random(payload)).getSerializedSize() - payload;
            new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, 1, payload, payload).write(buffer);
            buffer.put(FrameHeader.LENGTH_BYTES, Nodes.request(Nodes.random(payload - overhead)).toByteArray());
            return Nodes.BUFFER_BYTES + 1;
        });
        assertEquals(1, server.counters().value(Count.PROTOCOL_VIOLATIONS));
    }

    @Test
    void shouldReuseTheReceivesOfMessagesThatAreTooLong() throws Exception {
        final NodeConfig config = server.node().config();
        // More messages than receives of two connections.
        final int messages = 2 * config.buffers().receives() + 1;
        for (int i = 0; i < messages; i++) {
            assertConnectionLost(buffer -> config.buffers().strideBytes() + 1);
        }
        assertEquals(messages, server.counters().value(Count.COMPLETION_ERRORS));
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatReturnsTooManyCredits() {
        assertConnectionLost(buffer -> {
            new FrameHeader(FrameKind.CREDIT, (byte) 0, (byte) 0, 1000, 0, 0, 0).write(buffer);
            return FrameHeader.LENGTH_BYTES;
        });
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatReleasesAnUnknownRegion() {
        assertConnectionLost(buffer -> {
            new FrameHeader(FrameKind.RELEASE, (byte) 0, (byte) 0, 0, 17, 0, 0).write(buffer);
            return FrameHeader.LENGTH_BYTES;
        });
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatAdvertisesAnInvalidRegion() {
        assertConnectionLost(buffer -> advertise(buffer, 5000, new Advertisement(0, 1, new byte[] {9, 9, 9, 9, 9})));
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatAdvertisesBeyondItsRegion() throws Exception {
        try (Peer peer = Peer.ofRemote(TestDevice.address());
            LocalMemoryRegion region = peer.allocate(4096, MemoryUsage.READ_SOURCE)) {
            assertConnectionLost(peer, buffer -> advertise(buffer, 5000, new Advertisement(0, 1, region.descriptor())));
            assertConnectionLost(peer, buffer -> advertise(buffer, 4000, new Advertisement(97, 1, region.descriptor())));
            assertConnectionLost(peer, buffer -> advertise(buffer, 4000, new Advertisement(-1, 1, region.descriptor())));
        }
        // Detected here, and not by a read that the device rejected.
        Nodes.await("three violations", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 3);
    }

    @Test
    void shouldEndTheConnectionOfAPeerWithAReleasedRegion() {
        try (Peer peer = Peer.ofRemote(TestDevice.address())) {
            final byte[] descriptor;
            try (LocalMemoryRegion region = peer.allocate(8192, MemoryUsage.READ_SOURCE)) {
                descriptor = region.descriptor();
            }
            assertConnectionLost(peer, buffer -> advertise(buffer, 5000, new Advertisement(0, 1, descriptor)));
        }
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatSendsAnInvalidPacketOfAStream() throws Exception {
        assertConnectionLost(buffer -> packet(buffer, StreamPacket.TRAILER_BYTES - 1, 0));
        assertConnectionLost(buffer -> packet(buffer, StreamPacket.TRAILER_BYTES, 3));
        assertConnectionLost(buffer -> packet(buffer, StreamPacket.TRAILER_BYTES + 100, -1));
        try (Peer peer = Peer.ofRemote(TestDevice.address());
            LocalMemoryRegion region = peer.allocate(300_000, MemoryUsage.READ_SOURCE)) {
            // Without room for a trailer, and with invalid ones.
            for (final int bytes : new int[] {StreamPacket.TRAILER_BYTES - 1, 5000, 300_000}) {
                region.memory().fill((byte) 9);
                assertConnectionLost(peer, buffer -> advertise(
                    buffer, MessageType.DATA_STREAM, bytes, new Advertisement(0, 1, region.descriptor())));
            }
        }
        Nodes.await("six violations", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 6);
    }

    private static int packet(final ByteBuffer buffer, final int lengthBytes, final int kind) {
        new FrameHeader(FrameKind.REQUEST, MessageType.DATA_STREAM.code(), (byte) 0, 0, 1, lengthBytes, lengthBytes)
            .write(buffer);
        for (int i = 0; i < lengthBytes; i++) {
            buffer.put(FrameHeader.LENGTH_BYTES + i, (byte) kind);
        }
        return FrameHeader.LENGTH_BYTES + lengthBytes;
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatIgnoresCredits() throws Exception {
        try (RawPeer rawPeer = new RawPeer(Peer.ofRemote(TestDevice.address()), true)) {
            rawPeer.connect();
            // Requests without processing the replies: the peer returns no credits and is served until it has none left.
            for (int i = 0; i < 100 * Nodes.CREDITS; i++) {
                new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, i, 0, 0)
                    .write(rawPeer.buffer());
                if (!rawPeer.send(FrameHeader.LENGTH_BYTES)) {
                    break;
                }
            }
            rawPeer.awaitEnd();
        }
    }

    private static int advertise(final ByteBuffer buffer, final int messageLength, final Advertisement advertisement) {
        return advertise(buffer, MessageType.CLIENT_REQUEST, messageLength, advertisement);
    }

    private static int advertise(final ByteBuffer buffer, final MessageType type, final int messageLength,
        final Advertisement advertisement) {
        new FrameHeader(FrameKind.REQUEST, type.code(), FrameHeader.FLAG_RENDEZVOUS, 0, 1, advertisement.lengthBytes(),
            messageLength).write(buffer);
        advertisement.write(buffer);
        return FrameHeader.LENGTH_BYTES + advertisement.lengthBytes();
    }

    private void assertConnectionLost(final ToIntFunction<ByteBuffer> frame) {
        try (Peer peer = Peer.ofRemote(TestDevice.address())) {
            assertConnectionLost(peer, frame);
        }
    }

    private void assertConnectionLost(final Peer peer, final ToIntFunction<ByteBuffer> frame) {
        try (RawPeer rawPeer = new RawPeer(peer, false)) {
            rawPeer.connect();
            assertTrue(rawPeer.send(frame.applyAsInt(rawPeer.buffer())));
            rawPeer.awaitEnd();
        }
    }

    /** A peer with a valid hello that sends arbitrary frames. */
    private final class RawPeer implements AutoCloseable {
        private final Peer peer;
        private final boolean ownsPeer;
        private final LocalMemoryRegion memory;
        private final ByteBuffer buffer;
        private Connection connection;

        private RawPeer(final Peer peer, final boolean ownsPeer) {
            this.peer = peer;
            this.ownsPeer = ownsPeer;
            memory = peer.allocate(4096, MemoryUsage.SEND, MemoryUsage.RECEIVE);
            buffer = memory.memory().asByteBuffer();
        }

        private ByteBuffer buffer() {
            return buffer;
        }

        private void connect() {
            try (ConnectionConfig config = ConnectionConfig.create().sqSize(1000).cqSize(1000).rqSize(10)) {
                connection = peer.request(TestDevice.address(), Integer.toString(server.port()), config)
                    .connect(new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES).bytes());
            }
            assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
            // Receives for frames that a node sends before credits are returned.
            for (int i = 0; i < Nodes.CREDITS + 2; i++) {
                assertTrue(connection.receive(memory, 2048, 1024, 0));
            }
        }

        private boolean send(final int lengthBytes) {
            return connection.send(memory, 0, lengthBytes, CompletionFlag.ON_ERROR, 1);
        }

        private void awaitEnd() {
            assertEquals(Optional.of(ConnectionEvent.CLOSED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
        }

        @Override
        public void close() {
            if (connection != null) {
                connection.disconnect();
                connection.close();
            }
            memory.close();
            if (ownsPeer) {
                peer.close();
            }
        }
    }
}
