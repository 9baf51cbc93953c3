package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.Mockito.doThrow;
import static org.mockito.Mockito.mock;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.CallFault;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Long messages for which no memory can be registered; the loopback device lets the registration fail. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class UnsentReplyTest {
    private static final int NO_MEMORY = 12;
    private static final int LONG_BYTES = 100_000;
    private static final int LONGER_BYTES = 1 << 20;

    private final Nodes nodes;

    UnsentReplyTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        CallFault.plan(0, 0);
        nodes.close();
    }

    /** A poller that yields makes no calls that could fail instead. */
    private static NodeConfig config(final String name) {
        return Nodes.config(name, new PollerConfig(false, -1, WaitMode.YIELD, 0, HandlerThreads.POLLER, WaitMode.BLOCK));
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(30, TimeUnit.SECONDS)).getCause();
    }

    @Test
    void shouldFailOnlyTheRequestOfAReplyWithoutMemory() throws Exception {
        final Nodes.Server server = nodes.server(config("server"), (type, request) -> {
            if (((RaftClientRequestProto) request).getMessage().getContent().isEmpty()) {
                CallFault.plan(1, NO_MEMORY);
                return Nodes.echo(type, Nodes.request(Nodes.random(LONG_BYTES)));
            }
            return Nodes.echo(type, request);
        });
        final Link link = Nodes.connect(nodes.node(config("client"), Nodes::echo, new TransportCounters()), server.port());
        server.awaitOpened(1);
        final Throwable failure = failureOf(Nodes.reply(link, ByteString.EMPTY));
        assertInstanceOf(ResourceUnavailableException.class, failure);
        assertTrue(failure.getMessage().startsWith("a reply to "), failure.getMessage());
        assertEquals(1, server.counters().value(Count.MESSAGES_UNSENT));
        Nodes.assertEchoed(link, Nodes.random(LONG_BYTES));
    }

    /** It is written after the handler has returned. */
    @Test
    void shouldFailOnlyALongReplyOfAHandlerWithoutMemory() throws Exception {
        final Nodes.Server server = nodes.server(config("server"), (type, request) -> {
            if (((RaftClientRequestProto) request).getMessage().getContent().isEmpty()) {
                CallFault.plan(1, NO_MEMORY);
                return Nodes.echo(type, Nodes.request(Nodes.random(LONGER_BYTES)));
            }
            return Nodes.echo(type, request);
        });
        final Link link = Nodes.connect(nodes.node(config("client"), Nodes::echo, new TransportCounters()), server.port());
        server.awaitOpened(1);
        assertInstanceOf(ResourceUnavailableException.class, failureOf(Nodes.reply(link, ByteString.EMPTY)));
        assertEquals(1, server.counters().value(Count.MESSAGES_UNSENT));
        Nodes.assertEchoed(link, Nodes.random(LONGER_BYTES));
    }

    /** It is in no queue any more, so the end of the connection does not find it. */
    @Test
    void shouldForgetALongReplyWithoutMemoryIfTheReplyBehindItEndsTheConnection() throws Exception {
        final MessageLite broken = mock(MessageLite.class);
        doThrow(new IllegalArgumentException("on purpose")).when(broken).writeTo(any(CodedOutputStream.class));
        final Nodes.Server server = nodes.server(config("server"), (type, request) ->
            ((RaftClientRequestProto) request).getMessage().getContent().isEmpty() ?
                Nodes.echo(type, Nodes.request(Nodes.random(LONGER_BYTES))) : CompletableFuture.completedFuture(broken));
        final NodeConfig ofClient = config("client").with(new Access(PeerRole.CLIENT, "c1", null, null, AddressFilter.ANY));
        final Link link = Nodes.connect(nodes.node(ofClient, Nodes::echo, new TransportCounters()), server.port());
        server.awaitOpened(1);
        final CountDownLatch unblocked = new CountDownLatch(1);
        server.node().link(1).later(() -> {
            Uninterruptibles.awaitUninterruptibly(unblocked);
            CallFault.plan(1, NO_MEMORY);
        });
        final CompletableFuture<ByteString> unwritten = Nodes.reply(link, ByteString.EMPTY);
        final CompletableFuture<ByteString> behind = Nodes.reply(link, Nodes.random(10));
        Nodes.await("both replies in the queue", () -> server.counters().value(Count.SENDS_DELAYED) == 2);
        final long takenBytes = server.node().admission().replyBytes();
        unblocked.countDown();
        assertTrue(takenBytes > LONGER_BYTES, () -> takenBytes + " bytes");
        assertInstanceOf(AlreadyClosedException.class, failureOf(unwritten));
        assertInstanceOf(AlreadyClosedException.class, failureOf(behind));
        Nodes.await("its memory", () -> server.node().admission().replyBytes() == 0);
        Nodes.await("their places", () -> server.node().admission().requests() == 0);
        assertEquals(1, server.counters().value(Count.MESSAGES_UNSENT));
    }

    @Test
    void shouldFailOnlyALongRequestOfAHandlerWithoutMemory() throws Exception {
        final CompletableFuture<Void> registered = new CompletableFuture<>();
        final Nodes.Server server =
            nodes.server(config("server"), (type, request) -> registered.thenCompose(done -> Nodes.echo(type, request)));
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(config("client"), Nodes::echo, counters);
        final Link link = Nodes.connect(client, server.port());
        server.awaitOpened(1);
        final CompletableFuture<CompletableFuture<ByteString>> second =
            Nodes.reply(link, ByteString.EMPTY).thenApply(reply -> {
                assertTrue(client.isHandlerThread());
                CallFault.plan(1, NO_MEMORY);
                return Nodes.reply(link, Nodes.random(LONGER_BYTES));
            });
        registered.complete(null);
        assertInstanceOf(ResourceUnavailableException.class, failureOf(second.get(30, TimeUnit.SECONDS)));
        assertEquals(1, counters.value(Count.MESSAGES_UNSENT));
        Nodes.assertEchoed(link, Nodes.random(LONGER_BYTES));
    }

    @Test
    void shouldFailOnlyARequestWithoutMemory() throws Exception {
        final Nodes.Server server = nodes.server(config("server"), Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Link link = Nodes.connect(nodes.node(config("client"), Nodes::echo, counters), server.port());
        server.awaitOpened(1);
        CallFault.plan(1, NO_MEMORY);
        assertInstanceOf(ResourceUnavailableException.class, failureOf(Nodes.reply(link, Nodes.random(LONG_BYTES))));
        assertEquals(1, counters.value(Count.MESSAGES_UNSENT));
        Nodes.assertEchoed(link, Nodes.random(LONG_BYTES));
    }
}
