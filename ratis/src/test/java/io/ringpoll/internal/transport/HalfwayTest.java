package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.internal.lifecycle.HotCalls;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Nodes and connections that fail half-way while they open or end release place and memory: a node fails after each of its steps,
 * and calls into the loopback device fail.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class HalfwayTest {
    private static final int NO_MEMORY = 12;
    private static final int CONNECT_MS = 300;

    private final RdmaApi api;
    private final Nodes nodes;

    HalfwayTest(final RdmaApi api) {
        this.api = api;
        nodes = new Nodes(api);
    }

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

    /** Fails after a number of resources. */
    private static final class FailingStack extends ResourceStack {
        private int left;

        private FailingStack(final int resources) {
            super(failure -> fail("not released", failure));
            left = resources;
        }

        @Override
        public void pushUser(final BooleanSupplier end) {
            super.pushUser(end);
            if (--left == 0) {
                throw new IllegalStateException("on purpose");
            }
        }
    }

    /** Opens and closes a node; returns false if it has failed after a number of resources. */
    private boolean opens(final boolean shared, final int resources) {
        final RcPeer device = api.ofLocal(TestDevice.address());
        final NodeConfig config = Nodes.config("half-way",
            new PollerConfig(shared, -1, WaitMode.BLOCK, 0, HandlerThreads.POLLER, WaitMode.BLOCK));
        try {
            new Node(config, device, Nodes::echo, new TransportCounters(), new FailingStack(resources)).close();
            return true;
        } catch (final IllegalStateException e) {
            assertEquals("on purpose", e.getMessage());
            return false;
        } finally {
            assertTrue(device.isClosed(), () -> "the device after " + resources + " resources");
        }
    }

    private static long threads() {
        return Thread.getAllStackTraces().keySet().stream().map(Thread::getName)
            .filter(name -> name.startsWith("half-way") || name.startsWith("shared-rdma")).count();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReleaseAllResourcesOfANodeThatFailsAfterAnyOfThem(final boolean shared) throws Exception {
        // The first one may load classes from files that remain open.
        assertTrue(opens(shared, Integer.MAX_VALUE));
        Nodes.await("the end of its threads", () -> threads() == 0);
        final int calls = HotCalls.registered();
        final int files = ProcessResources.fileDescriptors();
        int failed = 0;
        while (!opens(shared, failed + 1)) {
            failed++;
            final String step = " after " + failed + " resources";
            Nodes.await("the end of all threads" + step, () -> threads() == 0);
            assertEquals(calls, HotCalls.registered(), "calls" + step);
            assertEquals(files, ProcessResources.fileDescriptorsDownTo(files), "files" + step);
        }
        // Device, frames, three pools, threads for long messages, poller, thread of connection events.
        assertEquals(8, failed);
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
