package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.CallFault;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that fail half-way while they open or end release place and memory; calls into the loopback device fail. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HalfwayTest {
    private static final int NO_MEMORY = 12;
    private static final int CONNECT_MS = 300;

    private final Nodes nodes = new Nodes();

    @AfterEach
    void close() {
        CallFault.plan(0, 0);
        nodes.close();
    }

    /** Its poller yields, and calls nothing that could fail instead. */
    private static NodeConfig config(final String name, final int connections) {
        return new NodeConfig(name, Nodes.BUFFER_BYTES, Nodes.CREDITS, connections, Nodes.MAX_MESSAGE_BYTES, 0, CONNECT_MS,
            Nodes.CLOSE_MS, new PollerConfig(false, -1, WaitMode.YIELD, 0, HandlerThreads.POLLER, WaitMode.BLOCK), false);
    }

    /** Connects again until this side has released the previous connection. */
    private static Link connectInTime(final Node client, final int port) throws InterruptedException {
        final long startNs = System.nanoTime();
        while (true) {
            try {
                return Nodes.connect(client, port);
            } catch (final IOException e) {
                assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), e::toString);
                TimeUnit.MILLISECONDS.sleep(1);
            }
        }
    }

    @Test
    void shouldReleaseAConnectionThatFailsToOpen() throws Exception {
        final Nodes.Server server = nodes.server(config("server", 64), Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(config("client", 1), Nodes::echo, counters);
        for (int n = 1; n <= 20; n++) {
            CallFault.plan(n, NO_MEMORY);
            try {
                Nodes.connect(client, server.port()).fail(new IOException("not needed"));
            } catch (final IOException e) {
                // As planned.
                assertTrue(n > 0);
            }
            CallFault.plan(0, 0);
            final Link link = connectInTime(client, server.port());
            Nodes.assertEchoed(link, Nodes.random(10));
            link.fail(new IOException("enough"));
        }
    }

    @Test
    void shouldReleaseAConnectionWhoseEndFails() throws Exception {
        final Nodes.Server server = nodes.server(config("server", 64), Nodes::echo);
        final TransportCounters counters = new TransportCounters();
        final Node client = nodes.node(config("client", 1), Nodes::echo, counters);
        for (int n = 1; n <= 12; n++) {
            final Link link = connectInTime(client, server.port());
            final long before = counters.value(Count.CONNECTIONS_CLOSED);
            CallFault.plan(n, NO_MEMORY);
            link.fail(new IOException("enough"));
            Nodes.await("its end", () -> counters.value(Count.CONNECTIONS_CLOSED) > before);
            CallFault.plan(0, 0);
        }
        Nodes.assertEchoed(connectInTime(client, server.port()), Nodes.random(10));
    }
}
