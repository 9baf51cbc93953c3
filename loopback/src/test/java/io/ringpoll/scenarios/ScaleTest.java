package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Many concurrent connections, and many in sequence, without leaks. */
@Tag(TestDevice.TAG)
class ScaleTest extends Scenario {
    private static final int AT_ONCE = 200;
    private static final String CONNECTS_PROPERTY = "ringpoll.connects";
    private static final int WARM_UP_CONNECTS = 100;
    /**
     * The JVM's own compiler uses the C heap too, up to some hundred bytes a connect while it is busy; a connection's queues that
     * nobody frees take more, and that in every round. {@link LeakTest} finds the small ones.
     */
    private static final int ROUNDS = 4;
    private static final long LEAK_BYTES_PER_CONNECT = 4096;

    private final Completions completions = new Completions();

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldServeTwoHundredConnectionsAtOnce() {
        final List<Connection> clients = new ArrayList<>();
        final List<Connection> servers = new ArrayList<>();
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = listen(peer);
            LocalMemoryRegion memory = peer.allocate(AT_ONCE * Long.BYTES, MemoryUsage.WRITE_DESTINATION);
            LocalMemoryRegion source = peer.allocate(AT_ONCE * Long.BYTES, MemoryUsage.WRITE_SOURCE);
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(memory.descriptor())) {
            for (int i = 0; i < AT_ONCE; i++) {
                connectOne(peer, endpoint, clients, servers);
            }
            for (int i = 0; i < AT_ONCE; i++) {
                putCounter(source, i * Long.BYTES, i + 1);
                final long offset = i * Long.BYTES;
                assertTrue(clients.get(i).write(remote, offset, source, offset, Long.BYTES, CompletionFlag.ALWAYS, i));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                assertEquals(i, awaitSuccess(completions, clients.get(i).completionQueue(), WcOpcode.RDMA_WRITE).workRequestId());
                assertEquals(i + 1, counter(memory, i * Long.BYTES));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                clients.get(i).disconnect();
                awaitDisconnect(servers.get(i));
                awaitEvent(clients.get(i), ConnectionEvent.CLOSED);
                clients.get(i).close();
                servers.get(i).close();
            }
        }
    }

    @Test
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void shouldLeaveNothingBehindAfterManyConnections() {
        final int connects = Integer.getInteger(CONNECTS_PROPERTY, TestDevice.isLoopback() ? 10_000 : 200);
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = listen(peer)) {
            connectAndDisconnect(peer, endpoint, WARM_UP_CONNECTS);
            final int fileDescriptors = ProcessResources.fileDescriptors();
            final Map<String, Long> objects = ProcessResources.objects();
            long smallestGrowth = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                final long heapBytes = ProcessResources.heapBytes();
                connectAndDisconnect(peer, endpoint, connects / ROUNDS);
                smallestGrowth = Math.min(smallestGrowth, ProcessResources.heapBytes() - heapBytes);
            }
            assertEquals(objects, ProcessResources.objects());
            assertTrue(ProcessResources.fileDescriptorsDownTo(fileDescriptors) <= fileDescriptors, "file descriptors");
            final long allowed = LEAK_BYTES_PER_CONNECT * connects / ROUNDS;
            assertTrue(smallestGrowth < allowed, "the C heap grew by at least " + smallestGrowth + " bytes in each round of " +
                connects / ROUNDS + " connects");
        }
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void shouldReportALostPeer() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion memory = pair.memory(64);
            final RemoteMemoryRegion remote = pair.remote(memory);
            // No disconnect: the other side is gone with all it had.
            pair.server().close();
            int posted = 0;
            while (posted < 4 && pair.client().write(remote, 32, memory, 0, 8, CompletionFlag.ALWAYS, posted)) {
                posted++;
            }
            assertTrue(pair.client().receive(memory, 0, 8, posted));
            final ConnectionEvent event = pair.client().nextEvent(TIMEOUT_MS).orElseThrow();
            assertTrue(event == ConnectionEvent.CLOSED || event == ConnectionEvent.LOST, event::toString);
            pair.client().disconnect();
            completions.await(pair.client().completionQueue(), posted + 1);
            for (int i = 0; i <= posted; i++) {
                assertTrue(!completions.at(i).isSuccess(), completions.at(i)::toString);
            }
        }
    }

    private void connectAndDisconnect(final Peer peer, final Endpoint endpoint, final int times) {
        final List<Connection> clients = new ArrayList<>();
        final List<Connection> servers = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            connectOne(peer, endpoint, clients, servers);
            clients.getFirst().disconnect();
            awaitDisconnect(servers.getFirst());
            awaitEvent(clients.getFirst(), ConnectionEvent.CLOSED);
            clients.removeFirst().close();
            servers.removeFirst().close();
        }
    }

    private void connectOne(final Peer peer, final Endpoint endpoint, final List<Connection> clients,
        final List<Connection> servers) {
        final Connection client = peer.request(ADDRESS, port(), null).connect();
        final Connection server = endpoint.nextRequest(TIMEOUT_MS).orElseThrow().connect();
        awaitEvent(client, ConnectionEvent.ESTABLISHED);
        awaitEvent(server, ConnectionEvent.ESTABLISHED);
        clients.add(client);
        servers.add(server);
    }
}
