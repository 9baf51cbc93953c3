package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Requests that the polling thread of a server processes itself, and its replacement when one of them waits. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class PollingThreadsTest {
    private static final ByteString WAITS = ByteString.copyFromUtf8("waits");
    private static final ByteString ASKS = ByteString.copyFromUtf8("asks the client");
    private static final ByteString CLOSES = ByteString.copyFromUtf8("closes the server");
    private static final int PINGS = 25;

    private final Nodes nodes;
    private final RequestThreads threads = new RequestThreads("worker-", true);
    /** The thread of the latest request. */
    private final AtomicReference<Thread> latest = new AtomicReference<>();
    private volatile CountDownLatch released = new CountDownLatch(1);
    private Nodes.Server server;
    private Link link;

    PollingThreadsTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @AfterEach
    void close() {
        released.countDown();
        nodes.close();
        threads.end();
    }

    private void start(final RequestThreads requestThreads) throws Exception {
        server = nodes.server((type, request) -> {
            final CompletableFuture<MessageLite> reply = new CompletableFuture<>();
            requestThreads.execute(() -> {
                latest.set(Thread.currentThread());
                try {
                    process(((RaftClientRequestProto) request).getMessage().getContent());
                    Nodes.echo(type, request).thenAccept(reply::complete);
                } catch (final Exception | Error failure) {
                    reply.completeExceptionally(failure);
                }
            });
            return reply;
        });
        final Node client = nodes.node("client", Nodes::echo, new TransportCounters());
        link = Nodes.connect(client, server.port());
        server.awaitOpened(1);
    }

    private void process(final ByteString content) throws Exception {
        assertFalse(server.node().isHandlerThread());
        if (content.equals(WAITS)) {
            released.await();
        } else if (content.equals(ASKS)) {
            Nodes.assertEchoed(server.node().link(1), Nodes.random(10));
        } else if (content.equals(CLOSES)) {
            server.node().close();
        }
    }

    private static boolean isPolling(final Thread thread) {
        return thread.getName().startsWith("server-poller");
    }

    /** Sends requests until the polling thread has processed one, and can process the next one; returns this thread. */
    private Thread pollingThread() throws Exception {
        do {
            Nodes.assertEchoed(link, Nodes.random(10));
        } while (!isPolling(latest.get()));
        return latest.get();
    }

    /** Sends a request to the polling thread, and again if another thread has got it because the machine is busy. */
    private CompletableFuture<ByteString> toPollingThread(final ByteString content) throws Exception {
        while (true) {
            pollingThread();
            latest.set(null);
            final CompletableFuture<ByteString> reply = Nodes.reply(link, content);
            Nodes.await("the begin of the request", () -> latest.get() != null);
            if (isPolling(latest.get())) {
                return reply;
            }
            released.countDown();
            reply.get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS);
            released = new CountDownLatch(1);
        }
    }

    @Test
    void shouldProcessFrequentRequestsOnThePollingThread() throws Exception {
        start(threads);
        assertEquals("server-poller", pollingThread().getName());
    }

    @Test
    void shouldServeOtherRequestsWhileThePollingThreadWaitsInOne() throws Exception {
        start(threads);
        final CompletableFuture<ByteString> waiting = toPollingThread(WAITS);
        final Thread waits = latest.get();
        for (int i = 0; i < PINGS; i++) {
            Nodes.assertEchoed(link, Nodes.random(10));
            assertFalse(isPolling(latest.get()), "there is no thread to take over");
        }
        assertFalse(waiting.isDone());
        released.countDown();
        assertEquals(WAITS, waiting.get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
        // The thread that has taken over polls from now on, and the other one takes over from it.
        final Thread other = pollingThread();
        assertNotEquals(waits, other);
        released = new CountDownLatch(1);
        final CompletableFuture<ByteString> second = toPollingThread(WAITS);
        assertEquals(other, latest.get());
        Nodes.assertEchoed(link, Nodes.random(10));
        released.countDown();
        assertEquals(WAITS, second.get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
        assertEquals(waits, pollingThread());
    }

    @Test
    void shouldTakeOverFromARequestThatWaitsForAReplyOnTheSamePoller() throws Exception {
        start(threads);
        assertEquals(ASKS, toPollingThread(ASKS).get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
    }

    @Test
    void shouldProcessSeveralRequestsOfADutyCycleAtTheSameTime() throws Exception {
        start(threads);
        final List<CompletableFuture<ByteString>> replies = new ArrayList<>();
        for (int i = 0; i < Nodes.CREDITS - 1; i++) {
            replies.add(Nodes.reply(link, WAITS));
        }
        Nodes.assertEchoed(link, Nodes.random(10));
        released.countDown();
        for (final CompletableFuture<ByteString> reply : replies) {
            assertEquals(WAITS, reply.get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS));
        }
    }

    @Test
    void shouldCloseTheNodeInARequestOnThePollingThread() throws Exception {
        start(threads);
        assertEndsWithoutReply(toPollingThread(CLOSES));
    }

    private static void assertEndsWithoutReply(final CompletableFuture<ByteString> reply) throws Exception {
        try {
            reply.get(ConnectedPair.TIMEOUT_MS, TimeUnit.MILLISECONDS);
            throw new AssertionError("there is a reply of a closed node");
        } catch (final ExecutionException ended) {
            assertTrue(ended.getCause() instanceof IOException, ended.toString());
        }
    }

    @Test
    void shouldInterruptARequestOnThePollingThreadAtTheEnd() throws Exception {
        start(threads);
        final CompletableFuture<ByteString> waiting = toPollingThread(WAITS);
        threads.end();
        // Its InterruptedException is the reply.
        assertEndsWithoutReply(waiting);
    }

    @Test
    void shouldCloseWhileARequestOnThePollingThreadDoesNotReturn() throws Exception {
        start(threads);
        final CompletableFuture<ByteString> waiting = toPollingThread(WAITS);
        server.node().close();
        assertEndsWithoutReply(waiting);
    }

    @Test
    void shouldProcessAllRequestsOnThreadsOfTheirOwnIfConfigured() throws Exception {
        final RequestThreads others = new RequestThreads("other-", false);
        try {
            start(others);
            for (int i = 0; i < PINGS; i++) {
                Nodes.assertEchoed(link, Nodes.random(10));
                assertTrue(latest.get().getName().startsWith("other-"), latest.get().getName());
            }
        } finally {
            others.end();
        }
    }

    /** A refused hand-off must not lose a request: it is processed where it is. */
    @Test
    void shouldProcessARequestOnThePollingThreadIfThereIsNoOther() throws Exception {
        start(threads);
        threads.elsewhere().shutdown();
        Uninterruptibles.sleepUninterruptibly(100, TimeUnit.MILLISECONDS);
        Nodes.assertEchoed(link, Nodes.random(10));
        assertTrue(isPolling(latest.get()), latest.get().getName());
    }
}
