package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.StreamPacket.Identity;
import io.ringpoll.internal.transport.StreamPacket.Kind;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import java.io.IOException;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Long messages, also when posts are refused, which only the loopback device can be made to do. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class RendezvousTest {
    private static final int REGION_BYTES = 64 * 1024;
    private static final int LONG_BYTES = 5_000;

    private final Nodes nodes;

    RendezvousTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private Nodes.Server server(final int credits, final RequestHandler requests) throws IOException {
        return nodes.server(new NodeConfig("server", Nodes.BUFFER_BYTES, credits, 8, Nodes.MAX_MESSAGE_BYTES, 1 << 24, 10_000,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false), requests);
    }

    /** A peer of a server with a faulty queue pair, the second one: the first is that of the peer. */
    private static RawPeer peerOfFaulty(final Nodes.Server server, final String rule) {
        try (FaultInjection faults = FaultInjection.apply(FaultPlan.parse(rule + "#2"))) {
            assertEquals(0, faults.injected(0));
            return new RawPeer(server.port(), Nodes.CREDITS);
        }
    }

    private static LocalMemoryRegion region(final RawPeer peer, final ByteString content) {
        final LocalMemoryRegion region = peer.peer().allocate(LONG_BYTES, MemoryUsage.READ_SOURCE);
        region.memory().asByteBuffer().put(Nodes.request(content).toByteArray());
        return region;
    }

    private static int lengthBytes(final ByteString content) {
        return Nodes.request(content).getSerializedSize();
    }

    /** 0 for a frame without a region. */
    @Test
    void shouldNumberItsRegionsFromOne() throws Exception {
        final Rendezvous rendezvous = new Rendezvous(null, server(Nodes.CREDITS, Nodes::echo).node(), null);
        for (int number = 1; number < 4; number++) {
            assertEquals(number, rendezvous.advertise(null, null));
        }
    }

    /** 2^32 messages later, the peer may still not have read one: it would release another one, which it has not read either. */
    @Test
    void shouldGiveNoRegionTheNumberOfAnUnreleasedOne() throws Exception {
        final Rendezvous rendezvous = new Rendezvous(null, server(Nodes.CREDITS, Nodes::echo).node(), null);
        assertEquals(List.of(1, 2, 3), List.of(rendezvous.advertise(null, null), rendezvous.advertise(null, null),
            rendezvous.advertise(null, null)));
        rendezvous.withdraw(2);
        rendezvous.continueWith(-1);
        assertEquals(List.of(-1, 2, 4), List.of(rendezvous.advertise(null, null), rendezvous.advertise(null, null),
            rendezvous.advertise(null, null)));
    }

    @Test
    void shouldPassLongMessagesWhileTheirNumbersRepeat() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, Nodes::echo);
        final Link link = Nodes.connect(nodes.client(), server.port());
        server.awaitOpened(1);
        for (final int number : new int[] {Integer.MAX_VALUE, -1}) {
            for (final Link side : List.of(link, server.node().link(1))) {
                synchronized (side) {
                    side.rendezvous().continueWith(number);
                }
            }
            for (int i = 0; i < 3; i++) {
                Nodes.assertEchoed(link, Nodes.random(LONG_BYTES));
            }
        }
        assertEquals(6, server.counters().value(Count.RENDEZVOUS_SENT));
        assertTrue(link.isOpen());
    }

    @Test
    void shouldRetryARefusedReadAtTheNextFrames() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, Nodes::echo);
        final ByteString content = Nodes.random(500);
        try (RawPeer peer = peerOfFaulty(server, "full:3@1"); LocalMemoryRegion region = region(peer, content)) {
            peer.advertise(1, lengthBytes(content), new Advertisement(0, 70, region.descriptor()));
            // The frame that announces the message causes two attempts.
            peer.returnCredits(0);
            Nodes.await("the third refusal", () -> server.counters().value(Count.FRAMES_RECEIVED) == 2);
            assertEquals(0, server.counters().value(Count.RENDEZVOUS_RECEIVED));
            peer.returnCredits(0);
            assertEquals(70, peer.next().header().correlationId());
            assertEquals(content, ((RaftClientReplyProto) peer.next().message()).getMessage().getContent());
        }
    }

    @Test
    void shouldForgetTheMessagesOfAnEndedConnection() throws Exception {
        final int credits = Rendezvous.MAX_LANDINGS + 2;
        final Nodes.Server server = server(credits, Nodes::echo);
        final ByteString content = Nodes.random(500);
        final Link link;
        try (RawPeer peer = peerOfFaulty(server, "full:1024@1"); LocalMemoryRegion region = region(peer, content)) {
            server.awaitOpened(1);
            link = server.node().link(1);
            for (int i = 0; i < credits; i++) {
                peer.advertise(i, lengthBytes(content), new Advertisement(0, 70 + i, region.descriptor()));
            }
            Nodes.await("all messages", () -> server.counters().value(Count.FRAMES_RECEIVED) == credits);
            link.fail(new IOException("enough"));
        }
        final long cached = Rendezvous.MAX_LANDINGS * REGION_BYTES;
        Nodes.await("the release of its memory", () -> server.node().landing().cachedBytes() == cached);
        assertDoesNotThrow(() -> link.rendezvous().onRead(), "the completion of a read that had been in flight");
        synchronized (link) {
            link.rendezvous().postWaiting();
            for (int i = 0; i < Rendezvous.MAX_LANDINGS; i++) {
                link.rendezvous().onDelivery();
            }
        }
        assertEquals(cached, server.node().landing().cachedBytes());
    }

    @Test
    void shouldReleaseARegionThatThePeerHasNotReadWithItsConnection() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, (type, request) ->
            Nodes.echo(type, Nodes.request(Nodes.random(LONG_BYTES))));
        final Link link;
        final int number;
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS)) {
            server.awaitOpened(1);
            link = server.node().link(1);
            peer.request(1, Nodes.request(ByteString.EMPTY));
            number = peer.next().advertisement().number();
            assertTrue(link.isOpen());
        }
        Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        // The thread that ends connections has finished with this one before it opens another one.
        Nodes.connect(nodes.client(), server.port());
        assertThrows(ProtocolException.class, () -> link.rendezvous().onReleased(number));
    }

    /** The close of the node's device checks that the memory for the message is released. */
    @Test
    void shouldEndTheConnectionOfAPeerThatAdvertisesAnInvalidMessage() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, (type, request) -> new CompletableFuture<MessageLite>());
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS);
            LocalMemoryRegion region = peer.peer().allocate(LONG_BYTES, MemoryUsage.READ_SOURCE)) {
            region.memory().fill((byte) -1);
            peer.advertise(1, LONG_BYTES, new Advertisement(0, 1, region.descriptor()));
            Nodes.await("the violation", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 1);
            assertEquals(0, server.counters().value(Count.RENDEZVOUS_RECEIVED));
            assertEquals(0, server.node().admission().landingBytes());
        }
    }

    /** The close of the peer's device, and the memory that others may still use, are those of before. */
    @Test
    void shouldTakeNoMemoryForAMessageBehindTheEndOfItsRegion() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, Nodes::echo);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS);
            LocalMemoryRegion region = peer.peer().allocate(LONG_BYTES, MemoryUsage.READ_SOURCE)) {
            peer.advertise(1, LONG_BYTES, new Advertisement(1, 1, region.descriptor()));
            Nodes.await("the violation", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 1);
            assertEquals(0, server.node().admission().landingBytes());
        }
    }

    /** The next message is read when an earlier one leaves for its delivery, which fails then. */
    @Test
    void shouldReleaseAPacketWhoseDeliveryFailsBecauseTheNextMessageIsInvalid() throws Exception {
        final Nodes.Server server = server(Rendezvous.MAX_LANDINGS + 2, (type, request) -> new CompletableFuture<MessageLite>());
        final byte[] packet = StreamPacket.toSend(new Identity(UUID.randomUUID(), 1), 0, Kind.DATA, false, false, LONG_BYTES,
            target -> target.put(new byte[LONG_BYTES])).toByteArray();
        // The reads begin when all messages are announced: the announcements alone cause 14 attempts.
        try (RawPeer peer = peerOfFaulty(server, "full:20@1");
            LocalMemoryRegion region = peer.peer().allocate(packet.length, MemoryUsage.READ_SOURCE)) {
            region.memory().asByteBuffer().put(packet);
            for (int i = 0; i < Rendezvous.MAX_LANDINGS; i++) {
                peer.advertise(MessageType.DATA_STREAM, i, packet.length, new Advertisement(0, i, region.descriptor()));
            }
            peer.advertise(MessageType.DATA_STREAM, 9, packet.length, new Advertisement(1, 9, region.descriptor()));
            for (int frames = Rendezvous.MAX_LANDINGS + 1; server.counters().value(Count.PROTOCOL_VIOLATIONS) == 0; frames++) {
                final int received = frames;
                Nodes.await("the frame", () -> server.counters().value(Count.FRAMES_RECEIVED) == received ||
                    server.counters().value(Count.PROTOCOL_VIOLATIONS) > 0);
                peer.returnCredits(0);
            }
        }
        final long cached = Rendezvous.MAX_LANDINGS * (long) (REGION_BYTES + StreamPacket.TRAILER_BYTES);
        Nodes.await("the release of its memory", () -> server.node().streamMemory().cachedBytes() == cached);
    }

    @Test
    void shouldEndTheConnectionOfAPeerThatAdvertisesAnEmptyMessage() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, Nodes::echo);
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS);
            LocalMemoryRegion region = region(peer, Nodes.random(10))) {
            peer.advertise(1, 0, new Advertisement(0, 1, region.descriptor()));
            Nodes.await("the violation", () -> server.counters().value(Count.PROTOCOL_VIOLATIONS) == 1);
        }
    }

    /** To close the description of a region takes longer than to read a message from it. */
    @Test
    void shouldKeepTheRegionsOfThePeerUntilTheEndOfTheConnection() throws Exception {
        final Nodes.Server server = server(Nodes.CREDITS, Nodes::echo);
        final ByteString content = Nodes.random(500);
        final Link link;
        try (RawPeer peer = new RawPeer(server.port(), Nodes.CREDITS); LocalMemoryRegion first = region(peer, content);
            LocalMemoryRegion second = region(peer, content)) {
            server.awaitOpened(1);
            link = server.node().link(1);
            int number = 1;
            for (final LocalMemoryRegion region : List.of(first, second, first, first, second)) {
                peer.advertise(number, lengthBytes(content), new Advertisement(0, number, region.descriptor()));
                // The release of the region, and the reply.
                assertEquals(number, peer.next().header().correlationId());
                assertEquals(content, ((RaftClientReplyProto) peer.next().message()).getMessage().getContent());
                peer.returnCredits(2);
                assertEquals(Math.min(number, 2), link.rendezvous().keptRegions());
                number++;
            }
        }
        Nodes.await("the release of the regions", () -> link.rendezvous().keptRegions() == 0);
    }
}
