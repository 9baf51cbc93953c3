package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.counters.CountersFolder;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Errors on the threads of a node: both sides detect them immediately. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class ThreadDeathTest {
    /** A keepalive that ends no connection during a test. */
    private static final PeerBounds PATIENT = PeerBounds.DEFAULT.withKeepalive(100, 600_000);
    /** Shorter than the waits of the test, longer than the time for which a busy machine may stop a live peer. */
    private static final PeerBounds SHORT = PeerBounds.DEFAULT.withKeepalive(100, 4_000);
    private static final ByteString FATAL = ByteString.copyFromUtf8("fatal");

    private final Nodes nodes;

    ThreadDeathTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    /** Ends the polling thread of the only node with a counters file: the thread counts in memory that is gone. */
    private static void killTheCountedPoller() throws IOException {
        final List<Path> files = CountersFolder.files(CountersFolder.defaultFolder()).stream()
            .filter(file -> CountersFolder.pid(file) == ProcessHandle.current().pid()).toList();
        assertEquals(1, files.size(), files::toString);
        try (FileChannel channel = FileChannel.open(files.getFirst(), StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
    }

    private static NodeConfig counted(final String name, final PollerConfig poller) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, Nodes.CREDITS, 8, Nodes.MAX_MESSAGE_BYTES, 1 << 20,
            ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS, poller, true).with(PATIENT);
    }

    private Node client(final String name, final PollerConfig poller, final TransportCounters counters) {
        return nodes.node(counted(name, poller), Nodes::echo, counters);
    }

    private Node client() {
        return nodes.node(Nodes.config("client", HandlerThreads.POLLER).with(PATIENT), Nodes::echo, new TransportCounters());
    }

    private Nodes.Server server(final PeerBounds bounds, final RequestHandler requests) throws IOException {
        return nodes.server(Nodes.config("server", HandlerThreads.POLLER).with(bounds), requests);
    }

    private static Throwable failureOf(final CompletableFuture<?> reply) {
        return assertThrows(ExecutionException.class, () -> reply.get(60, TimeUnit.SECONDS)).getCause();
    }

    private static CompletableFuture<MessageLite> never(final MessageType type, final MessageLite request) {
        return new CompletableFuture<>();
    }

    @Test
    void shouldEndTheConnectionsOfAllNodesWhoseSharedPollerHasDied() throws Exception {
        final Nodes.Server server = server(PATIENT, ThreadDeathTest::never);
        final PollerConfig poller = new PollerConfig(true, -1, WaitMode.BLOCK, 0, HandlerThreads.POLLER, WaitMode.BLOCK);
        final TransportCounters counters = new TransportCounters();
        final Node client = client("client", poller, counters);
        final Node other = client("other", poller, new TransportCounters());
        final Link link = Nodes.connect(client, server.port());
        final CompletableFuture<ByteString> reply = Nodes.reply(link, Nodes.random(10));
        final CompletableFuture<ByteString> longReply = Nodes.reply(Nodes.connect(other, server.port()), Nodes.random(200_000));
        Nodes.await("the requests", () -> server.node().admission().requests() == 2);
        try (Warnings warnings = new Warnings(NodePoller.class)) {
            killTheCountedPoller();
            final Throwable failure = failureOf(reply);
            assertInstanceOf(AlreadyClosedException.class, failure);
            assertTrue(failure.getMessage().contains("has died: java.lang.InternalError: "), failure.getMessage());
            assertInstanceOf(AlreadyClosedException.class, failureOf(longReply));
            warnings.await(" has died: all its connections end, and there are no new ones");
            assertEquals(1, warnings.times("has died: all"));
        }
        assertFalse(link.isOpen());
        Nodes.await("the release of the connections", () -> client.hasNoLinks() && other.hasNoLinks());
        Nodes.await("the end at the server", server.node()::hasNoLinks);
        assertEquals(0, server.counters().value(Count.PEERS_LOST) + counters.value(Count.PEERS_LOST));
        final ConnectException refused = assertThrows(ConnectException.class, () -> Nodes.connect(client, server.port()));
        assertTrue(refused.getCause().getMessage().contains("has died"), refused.getCause()::toString);
        // Another node with the same settings gets a thread of its own.
        assertTrue(Nodes.connect(client("next", poller, new TransportCounters()), server.port()).isOpen());
    }

    @Test
    void shouldEndTheConnectionsOfPeersAndRejectThemWhenTheServersPollerHasDied() throws Exception {
        final Nodes.Server server =
            nodes.server(counted("server", PollerConfig.own(HandlerThreads.POLLER)), ThreadDeathTest::never);
        final Node client = client();
        final CompletableFuture<ByteString> reply = Nodes.reply(Nodes.connect(client, server.port()), Nodes.random(10));
        Nodes.await("the request", () -> server.node().admission().requests() == 1);
        killTheCountedPoller();
        assertInstanceOf(AlreadyClosedException.class, failureOf(reply));
        Nodes.await("the end at the server", server.node()::hasNoLinks);
        Nodes.await("the end at the client", client::hasNoLinks);
        assertThrows(ConnectException.class, () -> Nodes.connect(client, server.port()));
        Nodes.await("the rejection", () -> server.counters().value(Count.CONNECTIONS_REJECTED) >= 1);
    }

    @Test
    void shouldEndOnlyTheConnectionWhoseRequestFailsWithAnError() throws Exception {
        final Nodes.Server server = server(PATIENT, (type, request) -> {
            if (((RaftClientRequestProto) request).getMessage().getContent().equals(FATAL)) {
                throw new StackOverflowError("on purpose");
            }
            return Nodes.echo(type, request);
        });
        final Node client = client();
        final Link survives = Nodes.connect(client, server.port());
        try (Warnings warnings = new Warnings(Node.class)) {
            for (int i = 0; i < 3; i++) {
                final Link ends = Nodes.connect(client, server.port());
                server.awaitOpened(2 + i);
                assertInstanceOf(AlreadyClosedException.class, failureOf(Nodes.reply(ends, FATAL)));
                Nodes.assertEchoed(survives, Nodes.random(10));
            }
            Nodes.await("the release", () -> server.counters().value(Count.CONNECTIONS_CLOSED) == 3);
            // The 1st and the 2nd.
            assertEquals(2, warnings.times("server: cannot process a frame from "));
        }
        // The echo may be received before the server has forgotten its request.
        Nodes.await("the places of the requests", () -> server.node().admission().requests() == 0);
        assertEquals(0, server.node().admission().bytes());
    }

    @Test
    void shouldServeAgainAfterAStallThatEndedItsConnections() throws Exception {
        final CountDownLatch stalled = new CountDownLatch(1);
        final CountDownLatch resumes = new CountDownLatch(1);
        final Nodes.Server server = server(SHORT, (type, request) -> {
            if (((RaftClientRequestProto) request).getMessage().getContent().equals(FATAL)) {
                stalled.countDown();
                Uninterruptibles.awaitUninterruptibly(resumes);
            }
            return Nodes.echo(type, request);
        });
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(Nodes.config("client", HandlerThreads.POLLER).with(SHORT), Nodes::echo, counters);
        final CompletableFuture<ByteString> reply = Nodes.reply(Nodes.connect(client, server.port()), FATAL);
        stalled.await();
        try {
            assertInstanceOf(AlreadyClosedException.class, failureOf(reply));
            Nodes.await("the release at the client", client::hasNoLinks);
        } finally {
            resumes.countDown();
        }
        Nodes.await("the release at the server", server.node()::hasNoLinks);
        Nodes.await("the places of the requests", () -> server.node().admission().requests() == 0);
        Nodes.assertEchoed(Nodes.connect(client, server.port()), Nodes.random(10));
    }
}
