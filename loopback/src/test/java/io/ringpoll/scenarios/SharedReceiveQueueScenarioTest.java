package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Example 13: the messages of several connections consume the receives of one shared queue and complete in its receive CQ; the
 * queue pair number identifies the sender.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SharedReceiveQueueScenarioTest extends Scenario {
    private static final int CLIENTS = 4;
    private static final int ROUNDS = 25;
    private static final int LENGTH = 8;

    @Test
    void shouldAnswerTheMessagesOfSeveralConnections() {
        run(this::server, this::clients);
    }

    private void server() {
        final Completions completions = new Completions();
        final Completions sends = new Completions();
        try (Peer peer = Peer.ofLocal(ADDRESS); LocalMemoryRegion received = peer.allocate(CLIENTS * LENGTH, MemoryUsage.RECEIVE);
            LocalMemoryRegion answers = peer.allocate(CLIENTS * LENGTH, MemoryUsage.SEND);
            SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create().rqSize(CLIENTS).rcqSize(2 * CLIENTS);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(queueConfig);
            ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(shared); Endpoint endpoint = listen(peer)) {
            // One receive for each client; its id is its offset.
            for (int i = 0; i < CLIENTS; i++) {
                assertTrue(shared.receive(received, i * LENGTH, LENGTH, i * LENGTH));
            }
            final Map<Integer, Connection> connections = new HashMap<>();
            for (int i = 0; i < CLIENTS; i++) {
                final Connection connection = accept(endpoint, config);
                connections.put(connection.queuePairNumber(), connection);
            }
            final RpmaCompletionQueue queue = shared.receiveCompletionQueue().orElseThrow();
            for (int i = 0; i < CLIENTS * ROUNDS; i++) {
                final long offset = awaitSuccess(completions, queue, WcOpcode.RECV).workRequestId();
                final Connection sender = connections.get(completions.at(0).queuePairNumber());
                assertNotNull(sender, "a message of an unknown connection");
                putCounter(answers, offset, counter(received, offset) + 1);
                assertTrue(shared.receive(received, offset, LENGTH, offset));
                assertTrue(sender.send(answers, offset, LENGTH, CompletionFlag.ALWAYS, 1));
                awaitSuccess(sends, sender.completionQueue(), WcOpcode.SEND);
            }
            connections.values().forEach(connection -> {
                awaitDisconnect(connection);
                connection.close();
            });
        }
    }

    private void clients() {
        awaitServer();
        final List<OtherThread<Void>> threads = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
            final long first = i * 1_000_000L;
            threads.add(OtherThread.run(() -> {
                client(first);
                return null;
            }));
        }
        threads.forEach(OtherThread::result);
    }

    private void client(final long first) {
        final Completions completions = new Completions();
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion message = peer.allocate(LENGTH, MemoryUsage.SEND);
            LocalMemoryRegion answer = peer.allocate(LENGTH, MemoryUsage.RECEIVE); Connection connection = connect(peer, null)) {
            for (int i = 0; i < ROUNDS; i++) {
                assertTrue(connection.receive(answer, 0, LENGTH, 1));
                putCounter(message, 0, first + i);
                assertTrue(connection.send(message, 0, LENGTH, CompletionFlag.ALWAYS, 2));
                completions.await(connection.completionQueue(), 2);
                assertEquals(first + i + 1, counter(answer, 0));
            }
            disconnect(connection);
        }
    }
}
