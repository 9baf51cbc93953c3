package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Many concurrent connections, and many in sequence, without leaks, of each binding. */
@Tag(TestDevice.TAG)
class ScaleTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final String ADDRESS = TestDevice.address();
    private static final RcConfig CONFIG = RcConfig.of(10, 10, 10);
    private static final int AT_ONCE = TestDevice.isShort() ? 64 : 200;
    private static final int CONNECTS = Integer.getInteger("ringpoll.connects", TestDevice.isShort() ? 80 : 10_000);
    private static final int WARM_UP_CONNECTS = TestDevice.isShort() ? 20 : 100;
    /**
     * The JVM's own compiler uses the C heap too, up to some hundred bytes a connect while it is busy; a connection's queues that
     * nobody frees take more, and that in every round. {@link LeakTest} finds the small ones.
     */
    private static final int ROUNDS = 4;
    private static final long LEAK_BYTES_PER_CONNECT = 4096;
    /** Of the compiler and others, in a round, also in one of few connects. */
    private static final long NOISE_BYTES = 50 * LEAK_BYTES_PER_CONNECT;

    private final Completions completions = new Completions();

    /** A client and a server. */
    private record Pair(RcConnection client, RcConnection server) implements AutoCloseable {
        static Pair connect(final RcPeer peer, final RcListener listener) {
            final RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
            final RcConnection server = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow().connect();
            client.awaitEstablished(TIMEOUT_MS);
            server.awaitEstablished(TIMEOUT_MS);
            return new Pair(client, server);
        }

        void disconnect() {
            client.disconnect();
            assertEquals(Optional.of(RcEvent.CLOSED), server.nextEvent(TIMEOUT_MS));
            server.disconnect();
            assertEquals(Optional.of(RcEvent.CLOSED), client.nextEvent(TIMEOUT_MS));
        }

        @Override
        public void close() {
            client.close();
            server.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldServeManyConnectionsAtOnce(final RdmaApi api) {
        final List<Pair> pairs = new ArrayList<>();
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0);
            RcMemory memory = peer.allocate(AT_ONCE * Long.BYTES, RcUsage.WRITE_DESTINATION);
            RcMemory source = peer.allocate(AT_ONCE * Long.BYTES, RcUsage.WRITE_SOURCE);
            RcRemoteMemory remote = peer.remote(memory.descriptor())) {
            for (int i = 0; i < AT_ONCE; i++) {
                pairs.add(Pair.connect(peer, listener));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                final long offset = i * Long.BYTES;
                source.memory().set(ValueLayout.JAVA_LONG, offset, i + 1);
                assertTrue(pairs.get(i).client().write(remote, offset, source, offset, Long.BYTES, true, i));
            }
            for (int i = 0; i < AT_ONCE; i++) {
                final WorkCompletion completion = completions.awaitOne(pairs.get(i).client().completionQueue());
                assertTrue(completion.isSuccess(), completion::toString);
                assertEquals(i, completion.workRequestId());
                assertEquals(i + 1, memory.memory().get(ValueLayout.JAVA_LONG, i * Long.BYTES));
            }
            pairs.forEach(Pair::disconnect);
            pairs.forEach(Pair::close);
        }
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(value = 300, unit = TimeUnit.SECONDS)
    void shouldLeaveNothingBehindAfterManyConnections(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0)) {
            connectAndDisconnect(peer, listener, WARM_UP_CONNECTS);
            final int fileDescriptors = ProcessResources.fileDescriptors();
            final Map<String, Long> objects = ProcessResources.objects();
            long smallestGrowth = Long.MAX_VALUE;
            for (int round = 0; round < ROUNDS; round++) {
                final long heapBytes = ProcessResources.heapBytes();
                connectAndDisconnect(peer, listener, CONNECTS / ROUNDS);
                smallestGrowth = Math.min(smallestGrowth, ProcessResources.heapBytes() - heapBytes);
            }
            assertEquals(objects, ProcessResources.objects());
            assertTrue(ProcessResources.fileDescriptorsDownTo(fileDescriptors) <= fileDescriptors, "file descriptors");
            final long allowed = Math.max(LEAK_BYTES_PER_CONNECT * CONNECTS / ROUNDS, NOISE_BYTES);
            assertTrue(smallestGrowth < allowed, "the C heap grew by at least " + smallestGrowth + " bytes in each round of " +
                CONNECTS / ROUNDS + " connects");
        }
    }

    private static void connectAndDisconnect(final RcPeer peer, final RcListener listener, final int times) {
        for (int i = 0; i < times; i++) {
            try (Pair pair = Pair.connect(peer, listener)) {
                pair.disconnect();
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void shouldReportALostPeer(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0);
            RcMemory memory = peer.allocate(64, RcUsage.WRITE_SOURCE, RcUsage.WRITE_DESTINATION, RcUsage.RECEIVE);
            RcRemoteMemory remote = peer.remote(memory.descriptor()); Pair pair = Pair.connect(peer, listener)) {
            // No disconnect: the other side is gone with all it had.
            pair.server().close();
            final RcConnection client = pair.client();
            int posted = 0;
            while (posted < 4 && client.write(remote, 32, memory, 0, 8, true, posted)) {
                posted++;
            }
            assertTrue(client.receive(memory, 0, 8, posted));
            final RcEvent event = client.nextEvent(TIMEOUT_MS).orElseThrow();
            assertTrue(event == RcEvent.CLOSED || event == RcEvent.LOST, event::toString);
            client.disconnect();
            completions.await(client.completionQueue(), posted + 1);
            for (int i = 0; i <= posted; i++) {
                assertFalse(completions.at(i).isSuccess(), completions.at(i)::toString);
            }
        }
    }
}
