package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.time.Duration;
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

/** A server's node that is opened again while its predecessor ends. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ServerNodeTest {
    private static final String NAME = "opened-again";
    private static final int TIMEOUT_S = 30;

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
            final ExecutorService first = node.executor();
            final Thread resetting = Thread.ofPlatform().daemon().start(node::reset);
            assertTrue(ending.await(TIMEOUT_S, TimeUnit.SECONDS));
            node.open();
            final ExecutorService second = node.executor();
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
}
