package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Flow control: frames are limited by credits, long messages by landings. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class FlowTest {
    private final Nodes nodes;

    FlowTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    @Test
    void shouldSendNoFrameWithoutCredit() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final int credits = Nodes.CREDITS - 1;
        try (RawPeer rawPeer = new RawPeer(server.port(), credits)) {
            for (int i = 0; i < Nodes.CREDITS; i++) {
                rawPeer.request(i, Nodes.request(ByteString.EMPTY));
            }
            for (int i = 0; i < credits; i++) {
                assertEquals(i, rawPeer.next().header().correlationId());
            }
            Nodes.await("a reply without a credit", () -> server.counters().value(Count.SENDS_DELAYED) == 1);
            assertEquals(credits, sentForCredits(server));
            rawPeer.returnCredits(1);
            assertEquals(credits, rawPeer.next().header().correlationId());
            assertEquals(credits + 1, sentForCredits(server));
        }
    }

    private static long sentForCredits(final Nodes.Server server) {
        return server.counters().value(Count.FRAMES_SENT) - server.counters().value(Count.CREDIT_FRAMES_SENT);
    }

    @Test
    void shouldSendQueuedFramesInOrderWhenCreditsReturn() throws Exception {
        final CountDownLatch unblocked = new CountDownLatch(1);
        final Nodes.Server server = nodes.server(blockingFirst(unblocked));
        try (RawPeer rawPeer = new RawPeer(server.port(), 1)) {
            for (int i = 0; i < Nodes.CREDITS; i++) {
                rawPeer.request(i, Nodes.request(ByteString.EMPTY));
            }
            unblocked.countDown();
            for (int i = 0; i < Nodes.CREDITS; i++) {
                assertEquals(i, rawPeer.next().header().correlationId());
                if (i < Nodes.CREDITS - 1) {
                    rawPeer.returnCredits(1);
                }
            }
        }
    }

    /** Blocks the poller's thread until all frames have been received. */
    private static RequestHandler blockingFirst(final CountDownLatch unblocked) {
        return (type, request) -> {
            try {
                unblocked.await(30, TimeUnit.SECONDS);
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
            return Nodes.echo(type, request);
        };
    }

    @Test
    void shouldLimitConcurrentReadsOfLongMessages() throws Exception {
        final int messages = 3 * Rendezvous.MAX_LANDINGS;
        final int regionBytes = 128 * 1024;
        final CountDownLatch unblocked = new CountDownLatch(1);
        final Nodes.Server server = nodes.server(config("server", 32), blockingFirst(unblocked));
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(config("client", 32), Nodes::echo, counters);
        final Link link = Nodes.connect(client, server.port());
        final List<ByteString> contents = new ArrayList<>();
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        contents.add(ByteString.EMPTY);
        replies.add(Nodes.reply(link, ByteString.EMPTY));
        for (int i = 0; i < messages; i++) {
            contents.add(Nodes.random(regionBytes / 2 + 100));
            replies.add(Nodes.reply(link, contents.getLast()));
        }
        Nodes.await("all on their way", () -> counters.value(Count.RENDEZVOUS_SENT) == messages);
        unblocked.countDown();
        for (int i = 0; i <= messages; i++) {
            assertEquals(contents.get(i), replies.get(i).get(30, TimeUnit.SECONDS), "reply " + i);
        }
        assertEquals(messages, server.counters().value(Count.RENDEZVOUS_RECEIVED));
        // Regions that were in use simultaneously remain registered.
        assertEquals(Rendezvous.MAX_LANDINGS * regionBytes, server.node().landing().cachedBytes());
    }

    private static NodeConfig config(final String name, final int credits) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, credits, 8, Nodes.MAX_MESSAGE_BYTES, Nodes.MAX_MESSAGE_BYTES, 10_000,
            Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false);
    }

    @Test
    void shouldReadAMessageUpToTheEndOfItsRegionAndReleaseIt() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final byte[] content = Nodes.random(300).toByteArray();
        final byte[] message = Nodes.request(ByteString.copyFrom(content)).toByteArray();
        try (RawPeer rawPeer = new RawPeer(server.port(), Nodes.CREDITS);
            LocalMemoryRegion region = rawPeer.peer().allocate(4096, MemoryUsage.READ_SOURCE)) {
            for (int i = 0; i < 3 * Nodes.CREDITS; i++) {
                final int offset = i % 2 == 0 ? 0 : 4096 - message.length;
                region.memory().asByteBuffer().put(offset, message);
                rawPeer.advertise(i, message.length, new Advertisement(offset, 70 + i, region.descriptor()));
                final Incoming release = rawPeer.next();
                assertEquals(FrameKind.RELEASE, release.header().kind());
                assertEquals(70 + i, release.header().correlationId());
                final Incoming reply = rawPeer.next();
                assertEquals(i, reply.header().correlationId());
                assertArrayEquals(content, ((RaftClientReplyProto) reply.message()).getMessage().getContent().toByteArray());
                rawPeer.returnCredits(2);
            }
        }
    }

    @Test
    void shouldAcceptAMessageThatFillsItsRegion() throws Exception {
        final Link link = Nodes.connect(nodes.client(), nodes.server(Nodes::echo).port());
        for (final int around : new int[] {-1, 0, 1}) {
            final int messageBytes = 64 * 1024 + around;
            final int overhead = Nodes.request(Nodes.random(messageBytes)).getSerializedSize() - messageBytes;
            final ByteString content = Nodes.random(messageBytes - overhead);
            assertEquals(messageBytes, Nodes.request(content).getSerializedSize());
            Nodes.assertEchoed(link, content);
        }
    }
}
