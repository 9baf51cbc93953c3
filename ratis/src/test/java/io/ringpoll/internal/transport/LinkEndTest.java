package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Messages that wait behind a long one, and the effects of failed completions. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class LinkEndTest {
    private static final int LONG_BYTES = 5_000;

    private final Nodes nodes;
    private final TransportCounters counters = new TransportCounters();
    private final CountDownLatch unblocked = new CountDownLatch(1);
    private final List<Integer> delivered = Collections.synchronizedList(new ArrayList<>());

    LinkEndTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private Node client() {
        return nodes.node("client", Nodes::echo, counters);
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }

    /** Notes the lengths of its requests, never replies, and blocks the poller's thread in the first one. */
    private CompletableFuture<MessageLite> note(final MessageLite request) {
        delivered.add(((RaftClientRequestProto) request).getMessage().getContent().size());
        if (delivered.size() == 1) {
            Uninterruptibles.awaitUninterruptibly(unblocked);
        }
        return new CompletableFuture<>();
    }

    /** Sends a short message, a long one and short ones that have to wait for it; they are processed after the last one. */
    private void sendBehindALongOne(final RawPeer peer, final LocalMemoryRegion region, final int waiting) throws Exception {
        peer.request(0, Nodes.request(Nodes.random(0)));
        Nodes.await("the first delivery", () -> delivered.size() == 1);
        final ByteString content = Nodes.random(LONG_BYTES - 100);
        region.memory().asByteBuffer().put(Nodes.request(content).toByteArray());
        peer.advertise(1, Nodes.request(content).getSerializedSize(), new Advertisement(0, 1, region.descriptor()));
        for (int i = 1; i <= waiting; i++) {
            peer.request(1 + i, Nodes.request(Nodes.random(i)));
        }
        unblocked.countDown();
    }

    @Test
    void shouldDeliverNoWaitingMessageAfterTheEndOfTheConnection() throws Exception {
        final CompletableFuture<Node> opened = new CompletableFuture<>();
        final Nodes.Server server = nodes.server((type, request) -> {
            final CompletableFuture<MessageLite> reply = note(request);
            if (delivered.size() == 2) {
                opened.join().link(1).fail(new IOException("enough"));
            }
            return reply;
        });
        opened.complete(server.node());
        try (RawPeer peer = new RawPeer(server.port(), 2 * Nodes.CREDITS);
            LocalMemoryRegion region = peer.peer().allocate(LONG_BYTES, MemoryUsage.READ_SOURCE)) {
            server.awaitOpened(1);
            sendBehindALongOne(peer, region, 2);
            Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
            assertEquals(List.of(0, LONG_BYTES - 100), delivered);
            assertEquals(Nodes.request(ByteString.EMPTY).getSerializedSize() +
                Nodes.request(Nodes.random(LONG_BYTES - 100)).getSerializedSize(), server.counters().value(Count.BYTES_RECEIVED));
        }
    }

    /** Its place among the requests of all clients would be lost for good. */
    @Test
    void shouldForgetARequestWhoseReplyFailsAfterTheEndOfTheConnection() throws Exception {
        final CompletableFuture<MessageLite> later = new CompletableFuture<>();
        final Nodes.Server server = nodes.server((type, request) -> later);
        final CompletableFuture<ByteString> reply = Nodes.reply(Nodes.connect(client(), server.port()), Nodes.random(10));
        Nodes.await("the request", () -> server.node().admission().requests() == 1);
        final MessageLite broken = mock(MessageLite.class);
        when(broken.getSerializedSize()).thenAnswer(call -> {
            server.node().link(1).fail(new IOException("enough"));
            throw new StackOverflowError("on purpose");
        });
        later.complete(broken);
        failureOf(reply);
        // The client finds out while the server is still at it.
        Nodes.await("its place", () -> server.node().admission().requests() == 0);
        Nodes.await("its bytes", () -> server.node().admission().bytes() == 0);
    }

    /** Neither the reply nor its failure can be made: the peer must not wait, and the place of its request is free again. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldEndTheConnectionOfARequestThatCannotBeAnsweredForAnError(final boolean isReply) throws Exception {
        final MessageLite broken = mock(MessageLite.class);
        when(broken.getSerializedSize()).thenThrow(new StackOverflowError("on purpose"));
        final IOException unspeakable = mock(IOException.class);
        when(unspeakable.getMessage()).thenThrow(new StackOverflowError("on purpose"));
        final CompletableFuture<MessageLite> later = new CompletableFuture<>();
        final Nodes.Server server = nodes.server((type, request) -> later);
        final CompletableFuture<ByteString> reply = Nodes.reply(Nodes.connect(client(), server.port()), Nodes.random(10));
        Nodes.await("the request", () -> server.node().admission().requests() == 1);
        if (isReply) {
            later.complete(broken);
        } else {
            later.completeExceptionally(unspeakable);
        }
        assertInstanceOf(AlreadyClosedException.class, failureOf(reply));
        Nodes.await("its place", () -> server.node().admission().requests() == 0);
        Nodes.await("its bytes", () -> server.node().admission().bytes() == 0);
    }

    @Test
    void shouldReportTheOperationThatHasFailed() throws Exception {
        final Nodes.Server server = nodes.server(Nodes::echo);
        final Link link;
        try (FaultInjection faults = FaultInjection.apply(FaultPlan.parse("status:retry-exc-err:send@1#1"))) {
            link = Nodes.connect(client(), server.port());
            assertEquals(0, faults.injected(0));
        }
        final Throwable failure = failureOf(Nodes.reply(link, Nodes.random(10)));
        assertTrue(failure.getMessage().contains("a send to or a read from server has failed with IBV_WC_RETRY_EXC_ERR"),
            failure.getMessage());
        // Not the flush errors that follow.
        Nodes.await("its end", () -> counters.value(Count.CONNECTIONS_CLOSED) == 1);
        assertEquals(1, counters.value(Count.COMPLETION_ERRORS));
    }

    @Test
    void shouldCountNoFlushErrorOfADisconnect() throws Exception {
        final Nodes.Server server = nodes.server((type, request) -> new CompletableFuture<>());
        final Link link = Nodes.connect(client(), server.port());
        server.awaitOpened(1);
        for (int i = 0; i < Nodes.CREDITS; i++) {
            Nodes.reply(link, Nodes.random(LONG_BYTES));
        }
        link.fail(new IOException("enough"));
        Nodes.await("its end", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 1);
        Nodes.await("its end", () -> counters.value(Count.CONNECTIONS_CLOSED) == 1);
        assertEquals(0, counters.value(Count.COMPLETION_ERRORS));
    }
}
