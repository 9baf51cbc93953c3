package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.metrics.MetricRegistries;
import org.apache.ratis.metrics.RatisMetricRegistry;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.thirdparty.com.google.common.util.concurrent.Uninterruptibles;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The end of a server's node, also while the next one is opened. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ServerNodeTest {
    private static final String NAME = "opened-again";
    private static final int TIMEOUT_S = 30;
    private static final int WRITE_MS = 200;

    private final CountDownLatch ending = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);

    private static ServerNode node() {
        final RaftProperties properties = new RaftProperties();
        RdmaConfigKeys.setServerHost(properties, TestDevice.address());
        RdmaConfigKeys.setServerPort(properties, 1);
        final RaftServer server = mock(RaftServer.class);
        when(server.getId()).thenReturn(RaftPeerId.valueOf(NAME));
        when(server.getProperties()).thenReturn(properties);
        return new ServerNode(server);
    }

    /** The first resource that ends: it waits until the next node is open. */
    private void stop(final RatisMetricRegistry registry) {
        if (registry.getMetricRegistryInfo().getPrefix().equals(NAME)) {
            ending.countDown();
            Uninterruptibles.awaitUninterruptibly(opened, TIMEOUT_S, TimeUnit.SECONDS);
        }
    }

    @Test
    void shouldEndItsOwnRequestThreadsAndNotThoseOfTheNextNode() throws IOException, InterruptedException {
        final Consumer<RatisMetricRegistry> starting = registry -> { };
        final Consumer<RatisMetricRegistry> stopping = this::stop;
        final ServerNode node = node();
        MetricRegistries.global().addReporterRegistration(starting, stopping);
        try {
            node.open();
            final ExecutorService first = node.executor().elsewhere();
            final Thread resetting = Thread.ofPlatform().daemon().start(node::reset);
            assertTrue(ending.await(TIMEOUT_S, TimeUnit.SECONDS));
            node.open();
            final ExecutorService second = node.executor().elsewhere();
            opened.countDown();
            assertTrue(resetting.join(Duration.ofSeconds(TIMEOUT_S)));
            assertNotSame(first, second);
            assertTrue(first.isShutdown());
            assertFalse(second.isShutdown());
        } finally {
            opened.countDown();
            node.close();
            MetricRegistries.global().removeReporterRegistration(starting, stopping);
        }
    }

    /** A write to a file fails if its thread is interrupted. */
    @Test
    void shouldInterruptOnlyRequestsThatDoNotEnd() throws Exception {
        final ServerNode node = node();
        node.open();
        final CountDownLatch running = new CountDownLatch(2);
        final CompletableFuture<Boolean> writing = new CompletableFuture<>();
        final CompletableFuture<Boolean> blocked = new CompletableFuture<>();
        node.executor().execute(() -> writing.complete(isInterrupted(running, WRITE_MS)));
        node.executor().execute(() -> blocked.complete(isInterrupted(running, TimeUnit.SECONDS.toMillis(TIMEOUT_S))));
        assertTrue(running.await(TIMEOUT_S, TimeUnit.SECONDS));
        node.close();
        assertFalse(writing.getNow(true), "interrupted during a write, or not ended");
        assertTrue(blocked.get(TIMEOUT_S, TimeUnit.SECONDS));
    }

    private static boolean isInterrupted(final CountDownLatch running, final long ms) {
        running.countDown();
        try {
            TimeUnit.MILLISECONDS.sleep(ms);
            return false;
        } catch (final InterruptedException e) {
            return true;
        }
    }
}
