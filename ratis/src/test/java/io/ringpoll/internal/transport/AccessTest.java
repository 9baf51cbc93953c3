package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesRequestProto;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** The peers that a node accepts, and the requests that it takes from them. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class AccessTest {
    private static final List<MessageType> OF_SERVERS = List.of(MessageType.REQUEST_VOTE, MessageType.APPEND_ENTRIES,
        MessageType.INSTALL_SNAPSHOT, MessageType.START_LEADER_ELECTION, MessageType.READ_INDEX);

    private final Nodes nodes;
    @TempDir
    private Path folder;

    AccessTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private Secret secret(final String content) throws IOException {
        final Path file = Files.createTempFile(folder, "secret", "", PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, content.repeat(16));
        return Secret.read(file);
    }

    private static Access access(final PeerRole role, final Secret secret, final Secret serverSecret) {
        return new Access(role, "n1", secret, serverSecret, AddressFilter.ANY);
    }

    private Nodes.Server server(final Access access) throws IOException {
        return nodes.server(Nodes.config("server", HandlerThreads.POLLER).with(access), AccessTest::serve);
    }

    private static CompletableFuture<? extends MessageLite> serve(
        final MessageType type, final MessageLite request) {
        return type == MessageType.APPEND_ENTRIES ?
            CompletableFuture.completedFuture(AppendEntriesReplyProto.getDefaultInstance()) : Nodes.echo(type, request);
    }

    private Node client(final Access access) {
        return nodes.node(Nodes.config("client", HandlerThreads.POLLER).with(access), Nodes::echo, new TransportCounters());
    }

    private void assertServed(final Nodes.Server server, final Access access) throws Exception {
        final Link link = Nodes.connect(client(access), server.port());
        Nodes.assertEchoed(link, Nodes.random(10));
        Nodes.assertEchoed(link, Nodes.random(5_000));
    }

    private void assertRefused(final Nodes.Server server, final Access access) {
        assertThrows(ConnectException.class, () -> Nodes.connect(client(access), server.port()));
    }

    /** Bytes of one hello must not pass for those of the other one. */
    @Test
    void shouldProveWhereTheFirstHelloEnds() throws IOException {
        final Secret secret = secret("a");
        final byte[] proof = secret.proof("side", new byte[] {1, 2}, new byte[] {3});
        assertArrayEquals(proof, secret.proof("side", new byte[] {1, 2}, new byte[] {3}));
        assertFalse(Arrays.equals(proof, secret.proof("side", new byte[] {1}, new byte[] {2, 3})));
    }

    @Test
    void shouldServePeersWithTheSameSecretOnly() throws Exception {
        final Nodes.Server server = server(access(PeerRole.SERVER, secret("a"), null));
        assertServed(server, access(PeerRole.CLIENT, secret("a"), null));
        assertServed(server, access(PeerRole.SERVER, secret("a"), null));
        assertRefused(server, access(PeerRole.CLIENT, secret("b"), null));
        assertRefused(server, access(PeerRole.CLIENT, null, null));
        Nodes.await("a rejection", () -> server.counters().value(Count.CONNECTIONS_REJECTED) >= 1);
        assertServed(server, access(PeerRole.CLIENT, secret("a"), null));
    }

    @Test
    void shouldRefuseAServerThatDoesNotHaveTheSecret() throws Exception {
        assertRefused(server(Access.OPEN), access(PeerRole.CLIENT, secret("a"), null));
    }

    private static Incoming incoming(final byte kind, final MessageLite message) {
        final byte type = message == null ? 0 : MessageType.CLIENT_REQUEST.code();
        return new Incoming(new FrameHeader(kind, type, (byte) 0, 0, 1, 0, 0), message, null);
    }

    /** A request can arrive before the event of the established connection, which carries the proof. */
    @Test
    void shouldTakeNoMessageOfAnAcceptingPeerBeforeItsProof() throws Exception {
        final NodeConfig config =
            Nodes.config("client", HandlerThreads.POLLER).with(access(PeerRole.SERVER, secret("a"), secret("s")));
        final LinkLifecycle lifecycle = new LinkLifecycle("server", PeerBounds.DEFAULT, Handshake.requesting(config));
        final Incoming request = incoming(FrameKind.REQUEST, Nodes.request(ByteString.EMPTY));
        assertFalse(lifecycle.isProof(incoming(FrameKind.PING, null)));
        assertThrows(ProtocolException.class, () -> lifecycle.isProof(request));
        lifecycle.begin(hello(PeerRole.SERVER, null));
        assertFalse(lifecycle.isProof(request));
    }

    /** Of a host that has taken the address of a server. */
    @Test
    void shouldServeNoRequestOfAnAcceptingPeerWithoutTheSecret() throws Exception {
        final AtomicInteger served = new AtomicInteger();
        final Node node = nodes.node(
            Nodes.config("server", HandlerThreads.POLLER).with(access(PeerRole.SERVER, secret("a"), secret("s"))),
            (type, request) -> {
                served.incrementAndGet();
                return serve(type, request);
            }, new TransportCounters());
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), "0");
            LocalMemoryRegion memory = peer.allocate(Nodes.BUFFER_BYTES, MemoryUsage.SEND)) {
            final ByteBuffer frame = memory.memory().asByteBuffer();
            final byte[] payload = Nodes.request(ByteString.EMPTY).toByteArray();
            new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, 1, payload.length, payload.length)
                .write(frame);
            frame.put(FrameHeader.LENGTH_BYTES, payload);
            for (int i = 0; i < 20; i++) {
                final CompletableFuture<Link> connecting = CompletableFuture.supplyAsync(() -> {
                    try {
                        return Nodes.connect(node, endpoint.port());
                    } catch (final IOException e) {
                        throw new CompletionException(e);
                    }
                });
                try (Connection accepted = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow()
                    .connect(hello(PeerRole.SERVER, new byte[Hello.CHALLENGE_BYTES]).bytes())) {
                    accepted.send(memory, 0, FrameHeader.LENGTH_BYTES + payload.length, CompletionFlag.ON_ERROR, 1);
                    assertThrows(ExecutionException.class, () -> connecting.get(30, TimeUnit.SECONDS));
                }
            }
        }
        Nodes.await("the ends", node::hasNoLinks);
        assertEquals(0, served.get());
    }

    @Test
    void shouldRequireTheSecretOfServersFromServers() throws Exception {
        final Nodes.Server server = server(access(PeerRole.SERVER, secret("a"), secret("s")));
        assertServed(server, access(PeerRole.CLIENT, secret("a"), null));
        assertServed(server, access(PeerRole.SERVER, secret("a"), secret("s")));
        assertRefused(server, access(PeerRole.SERVER, secret("a"), null));
    }

    private static Hello hello(final PeerRole role, final byte[] challenge) {
        return new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES, 1 << 20, role, "raw", challenge, null);
    }

    private static void assertEnds(final RawPeer peer) {
        assertEquals(ConnectionEvent.CLOSED, peer.awaitEvent());
    }

    private static ClientMessageEntryProto content(final byte[] bytes) {
        return ClientMessageEntryProto.newBuilder().setContent(ByteString.copyFrom(bytes)).build();
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatDoesNotProveTheSecret() throws Exception {
        final Secret secret = secret("a");
        final AtomicInteger served = new AtomicInteger();
        final Nodes.Server server = nodes.server(new NodeConfig("server", Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, 1 << 20, 0, 500,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false).with(access(PeerRole.SERVER, secret, null)),
            (type, request) -> {
                served.incrementAndGet();
                return serve(type, request);
            });
        final Hello hello = hello(PeerRole.CLIENT, new byte[Hello.CHALLENGE_BYTES]);
        final byte[] earlier;
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            // A correct proof is accepted, and only once.
            earlier = secret.proof("ringpoll-ratis requests", hello.bytes(), peer.hello().withProof(null).bytes());
            peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(earlier));
            peer.request(7, Nodes.request(ByteString.EMPTY));
            assertEquals(7, peer.next().header().correlationId());
            peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(earlier));
            assertEnds(peer);
        }
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            // The proof of another connection.
            peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(earlier));
            assertEnds(peer);
        }
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            // The node's own proof.
            peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(peer.hello().proof()));
            assertEnds(peer);
        }
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(new byte[0]));
            assertEnds(peer);
        }
        try (RawPeer peer = new RawPeer(server.port(), hello)) {
            peer.request(1, Nodes.request(ByteString.EMPTY));
            assertEnds(peer);
        }
        try (RawPeer silent = new RawPeer(server.port(), hello)) {
            assertEnds(silent);
        }
        assertEquals(6, server.counters().value(Count.PROTOCOL_VIOLATIONS));
        // The time-out for the proof would end the connection of a peer that is served without one, too.
        assertEquals(1, served.get());
        assertServed(server, access(PeerRole.CLIENT, secret, null));
    }

    @Test
    void shouldTakeRequestsOfServersFromServersOnly() throws Exception {
        final Nodes.Server server = server(Access.OPEN);
        try (RawPeer peer = new RawPeer(server.port(), hello(PeerRole.SERVER, null))) {
            peer.message(FrameKind.REQUEST, MessageType.APPEND_ENTRIES, AppendEntriesRequestProto.getDefaultInstance());
            assertEquals(FrameKind.REPLY, peer.next().header().kind());
        }
        for (final MessageType type : OF_SERVERS) {
            try (RawPeer peer = new RawPeer(server.port(), hello(PeerRole.CLIENT, null))) {
                peer.message(FrameKind.REQUEST, type, AppendEntriesRequestProto.getDefaultInstance());
                assertEnds(peer);
            }
        }
        assertServed(server, access(PeerRole.CLIENT, null, null));
    }

    @Test
    void shouldTakeNoRequestsOfServersFromAClientThatHasProvedItsSecret() throws Exception {
        final Secret secret = secret("a");
        final Nodes.Server server = server(access(PeerRole.SERVER, secret, secret("b")));
        final Hello hello = hello(PeerRole.CLIENT, new byte[Hello.CHALLENGE_BYTES]);
        for (final MessageType type : OF_SERVERS) {
            try (RawPeer peer = new RawPeer(server.port(), hello)) {
                peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(
                    secret.proof("ringpoll-ratis requests", hello.bytes(), peer.hello().withProof(null).bytes())));
                peer.request(7, Nodes.request(ByteString.EMPTY));
                assertEquals(7, peer.next().header().correlationId());
                peer.message(FrameKind.REQUEST, type, AppendEntriesRequestProto.getDefaultInstance());
                assertEnds(peer);
            }
        }
        assertServed(server, access(PeerRole.CLIENT, secret, null));
    }

    @Test
    void shouldAcceptPeersFromAllowedAddressesOnly() throws Exception {
        // 192.0.2.1 is the address of the Soft-RoCE guest.
        final Access other = new Access(PeerRole.SERVER, "n1", null, null, AddressFilter.of("198.51.100.0/24,2001:db8:1::1"));
        assertRefused(server(other), Access.OPEN);
        final Access here = new Access(PeerRole.SERVER, "n1", null, null, AddressFilter.of(TestDevice.address()));
        assertServed(server(here), access(PeerRole.CLIENT, null, null));
    }

    @Test
    void shouldCompareAddressesWithPrefixes() throws Exception {
        final AddressFilter filter = AddressFilter.of("10.1.2.3, 10.2.0.0/15,fd00::/9");
        for (final String allowed : new String[] {"10.1.2.3", "10.2.0.0", "10.3.255.255", "fd00::1", "fd7f::1"}) {
            assertTrue(filter.allows(Optional.of(InetAddress.getByName(allowed))), allowed);
        }
        for (final String refused : new String[] {"10.1.2.2", "10.4.0.0", "10.1.255.255", "fd80::1", "::10.1.2.3"}) {
            assertFalse(filter.allows(Optional.of(InetAddress.getByName(refused))), refused);
        }
        assertFalse(filter.allows(Optional.empty()));
        assertTrue(AddressFilter.of(" ").allows(Optional.empty()));
        assertTrue(AddressFilter.of("0.0.0.0/0").allows(Optional.of(InetAddress.getByName("192.0.2.1"))));
    }

    @Test
    void shouldKeepRoomForServersWhenClientsTakeAllConnections() throws Exception {
        final NodeConfig config = new NodeConfig("server", Nodes.BUFFER_BYTES, Nodes.CREDITS, 4, 1 << 20, 0, 10_000,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false).with(PeerBounds.DEFAULT.withReserved(2));
        final Nodes.Server server = nodes.server(config, AccessTest::serve);
        final Node clients = client(access(PeerRole.CLIENT, null, null));
        final Link first = Nodes.connect(clients, server.port());
        final Link second = Nodes.connect(clients, server.port());
        assertThrows(ConnectException.class, () -> Nodes.connect(clients, server.port()));
        final Node peers = client(Access.OPEN);
        Nodes.assertEchoed(Nodes.connect(peers, server.port()), Nodes.random(10));
        Nodes.assertEchoed(Nodes.connect(peers, server.port()), Nodes.random(10));
        assertThrows(ConnectException.class, () -> Nodes.connect(peers, server.port()));
        Nodes.assertEchoed(first, Nodes.random(10));
        Nodes.assertEchoed(second, Nodes.random(10));
    }

    private static NodeConfig config(final int connections, final int reserved) {
        return new NodeConfig("server", Nodes.BUFFER_BYTES, Nodes.CREDITS, connections, 1 << 20, 0, 30_000, Nodes.CLOSE_MS,
            PollerConfig.own(HandlerThreads.POLLER), false).with(PeerBounds.DEFAULT.withReserved(reserved));
    }

    private static void prove(final RawPeer peer, final Hello hello, final Secret secret) throws ProtocolException {
        peer.message(FrameKind.PROOF, MessageType.CLIENT_REQUEST, content(
            secret.proof("ringpoll-ratis requests", hello.bytes(), peer.hello().withProof(null).bytes())));
    }

    /** They claim either role, and wait until they are disconnected. */
    @Test
    void shouldServePeersWhileOthersConnectAndProveNothing() throws Exception {
        final Secret secret = secret("a");
        final Nodes.Server server = nodes.server(config(4, 2).with(access(PeerRole.SERVER, secret, null)), AccessTest::serve);
        final Node clients = client(access(PeerRole.CLIENT, secret, null));
        final Node servers = client(access(PeerRole.SERVER, secret, null));
        final Link first = Nodes.connect(clients, server.port());
        final int most = NodeConfig.UNPROVEN_CONNECTIONS;
        final List<RawPeer> silent = new ArrayList<>();
        try {
            while (silent.size() < 2 * most) {
                silent.add(new RawPeer(server.port(),
                    hello(silent.size() % 2 == 0 ? PeerRole.CLIENT : PeerRole.SERVER, new byte[Hello.CHALLENGE_BYTES])));
            }
            for (final RawPeer oldest : silent.subList(0, most)) {
                assertEnds(oldest);
            }
            assertEquals(most, server.counters().value(Count.PROTOCOL_VIOLATIONS));
            // All connections of clients, and those of servers.
            final Link second = Nodes.connect(clients, server.port());
            Nodes.assertEchoed(second, Nodes.random(10));
            for (int i = 0; i < 2; i++) {
                Nodes.assertEchoed(Nodes.connect(servers, server.port()), Nodes.random(10));
            }
            assertThrows(ConnectException.class, () -> Nodes.connect(servers, server.port()));
            Nodes.assertEchoed(first, Nodes.random(10));
            second.fail(new IOException("enough"));
            servers.endAll(new IOException("enough"));
        } finally {
            silent.forEach(RawPeer::close);
        }
        Nodes.await("the end of all but the first", () -> server.node().links() == 1);
        Nodes.assertEchoed(Nodes.connect(clients, server.port()), Nodes.random(10));
    }

    @Test
    void shouldGiveTheLastConnectionToThePeerThatProvesTheSecretFirst() throws Exception {
        final Secret secret = secret("a");
        final Nodes.Server server = nodes.server(config(1, 0).with(access(PeerRole.SERVER, secret, null)), AccessTest::serve);
        final Hello hello = hello(PeerRole.CLIENT, new byte[Hello.CHALLENGE_BYTES]);
        try (RawPeer late = new RawPeer(server.port(), hello); RawPeer early = new RawPeer(server.port(), hello)) {
            prove(early, hello, secret);
            early.request(7, Nodes.request(ByteString.EMPTY));
            assertEquals(7, early.next().header().correlationId());
            prove(late, hello, secret);
            assertEnds(late);
            assertEquals(1, server.counters().value(Count.CONNECTIONS_REJECTED));
            early.request(8, Nodes.request(ByteString.EMPTY));
            assertEquals(8, early.next().header().correlationId());
        }
        Nodes.await("the end of both", server.node()::hasNoLinks);
        assertServed(server, access(PeerRole.CLIENT, secret, null));
    }

    @Test
    void shouldRejectEveryTruncatedHello() throws Exception {
        final Hello named = new Hello(1, 256, 256, PeerRole.SERVER, "a-name-of-20-bytes..", new byte[16], null);
        final byte[] bytes = named.bytes();
        assertEquals(56, bytes.length);
        final Hello decoded = Hello.of(bytes);
        assertEquals("a-name-of-20-bytes..", decoded.name());
        assertEquals(PeerRole.SERVER, decoded.role());
        for (int length = 0; length < bytes.length; length++) {
            final byte[] shorter = Arrays.copyOf(bytes, length);
            assertThrows(ProtocolException.class, () -> Hello.of(shorter), "length " + length);
        }
        final byte[] proven = named.withProof(new byte[Secret.PROOF_BYTES]).bytes();
        assertEquals(36 + 32, proven.length);
        assertThrows(ProtocolException.class, () -> Hello.of(Arrays.copyOf(proven, proven.length - 1)));
        assertEquals("client without a name", new Hello(1, 256).description());
        assertEquals("server ?[31m", new Hello(1, 256, 256, PeerRole.SERVER, "\u001b[31m", null, null).description());
    }
}
