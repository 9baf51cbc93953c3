package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages of 64 MB and short ones on the same node; no thread of the handlers allocates or parses one. */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class LongestMessagesTest {
    private static final int LONGEST_BYTES = 64 << 20;
    private static final int MESSAGES = 3;

    private final Nodes nodes;

    LongestMessagesTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    /** Without cached memory: each message needs its own. */
    private static NodeConfig config(final String name) {
        return new NodeConfig(name, 16 << 10, 32, 8, LONGEST_BYTES + 1_000, 0, 10_000, Nodes.CLOSE_MS,
            PollerConfig.own(HandlerThreads.POLLER), false);
    }

    private final List<Boolean> onHandler = Collections.synchronizedList(new ArrayList<>());

    private CompletableFuture<MessageLite> first(final MessageType type, final MessageLite request, final Node server) {
        final ByteString content = ((RaftClientRequestProto) request).getMessage().getContent();
        if (content.size() < LONGEST_BYTES) {
            return Nodes.echo(type, request);
        }
        onHandler.add(server.isHandlerThread());
        return CompletableFuture.completedFuture(RaftClientReplyProto.newBuilder()
            .setMessage(Nodes.request(content.substring(0, 10)).getMessage()).build());
    }

    @Test
    void shouldAnswerShortRequestsBesideTheLongestOnes() throws Exception {
        final Node[] self = new Node[1];
        final Nodes.Server server =
            nodes.server(config("server"), (type, request) -> first(type, request, self[0]));
        self[0] = server.node();
        final Node client = nodes.node(config("client"), Nodes::echo, new TransportCounters());
        final Link busy = Nodes.connect(client, server.port());
        final Link pings = Nodes.connect(client, server.port());
        server.awaitOpened(2);
        // The first of them has not even its memory until the pings have been answered.
        final CountDownLatch answered = new CountDownLatch(1);
        server.node().link(1).later(() -> Uninterruptibles.awaitUninterruptibly(answered));
        final ByteString longest = UnsafeByteOperations.unsafeWrap(new byte[LONGEST_BYTES]);
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < MESSAGES; i++) {
            replies.add(Nodes.reply(busy, longest));
            Nodes.assertEchoed(pings, Nodes.random(100));
        }
        assertEquals(0, server.counters().value(Count.RENDEZVOUS_RECEIVED));
        answered.countDown();
        do {
            Nodes.assertEchoed(pings, Nodes.random(100));
        } while (!replies.stream().allMatch(CompletableFuture::isDone));
        for (final CompletableFuture<ByteString> reply : replies) {
            assertEquals(10, reply.get(30, TimeUnit.SECONDS).size());
        }
        assertEquals(List.of(false, false, false), onHandler);
        assertEquals(MESSAGES, server.counters().value(Count.RENDEZVOUS_RECEIVED));
    }
}
