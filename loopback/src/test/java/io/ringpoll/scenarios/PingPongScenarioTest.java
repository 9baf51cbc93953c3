package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Examples 08, 08srq, 12 and 12scch: messages go to and fro. The receives complete in the main queue, in the queue of a shared
 * receive queue, or in a receive queue of the connection's own, with separate or shared channels.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class PingPongScenarioTest extends Scenario {
    private static final int ROUNDS = 100;
    private static final int LENGTH = 8;
    private static final int RCQ_SIZE = 10;

    @Test
    void shouldPlayWithOneCompletionQueue() {
        play(config -> { }, PingPongScenarioTest::awaitInMainQueue);
    }

    @Test
    void shouldPlayWithAReceiveQueue() {
        play(config -> config.rcqSize(RCQ_SIZE), PingPongScenarioTest::awaitInBothQueues);
    }

    @Test
    void shouldPlayWithAReceiveQueueOnASharedChannel() {
        play(config -> config.rcqSize(RCQ_SIZE).sharedCompletionChannel(true), PingPongScenarioTest::awaitOnSharedChannel);
    }

    @Test
    void shouldPlayWithASharedReceiveQueue() {
        run(this::serverWithSharedQueue, () -> client(config -> { }, PingPongScenarioTest::awaitInMainQueue));
    }

    /** How a side waits for its message's completion and for the other's message, in this order or the other. */
    private interface Round {
        void await(Connection connection, Completions completions);
    }

    private void play(final Consumer<ConnectionConfig> settings, final Round round) {
        run(() -> server(settings, round), () -> client(settings, round));
    }

    private void client(final Consumer<ConnectionConfig> settings, final Round round) {
        final Completions completions = new Completions();
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion sends = peer.allocate(LENGTH, MemoryUsage.SEND);
            LocalMemoryRegion receives = peer.allocate(LENGTH, MemoryUsage.RECEIVE);
            ConnectionConfig config = ConnectionConfig.create()) {
            settings.accept(config);
            try (Connection connection = connect(peer, config)) {
                for (long value = 0; value < ROUNDS; value++) {
                    // First the receive: the reply may arrive before the send's completion.
                    assertTrue(connection.receive(receives, 0, LENGTH, 1));
                    send(connection, sends, value);
                    round.await(connection, completions);
                    assertEquals(value + 1, counter(receives, 0));
                }
                disconnect(connection);
            }
        }
    }

    private void server(final Consumer<ConnectionConfig> settings, final Round round) {
        final Completions completions = new Completions();
        try (Peer peer = Peer.ofLocal(ADDRESS); LocalMemoryRegion sends = peer.allocate(LENGTH, MemoryUsage.SEND);
            LocalMemoryRegion receives = peer.allocate(LENGTH, MemoryUsage.RECEIVE);
            ConnectionConfig config = ConnectionConfig.create(); Endpoint endpoint = listen(peer)) {
            settings.accept(config);
            final ConnectionRequest request = endpoint.nextRequest(config, TIMEOUT_MS).orElseThrow();
            // Posted before the connection is made, so that the first message finds it.
            assertTrue(request.receive(receives, 0, LENGTH, 1));
            try (Connection connection = request.connect()) {
                awaitEvent(connection, ConnectionEvent.ESTABLISHED);
                awaitSuccess(completions, connection.receiveCompletionQueue().orElse(connection.completionQueue()),
                    WcOpcode.RECV);
                for (int i = 1; i < ROUNDS; i++) {
                    final long value = counter(receives, 0);
                    assertTrue(connection.receive(receives, 0, LENGTH, 1));
                    send(connection, sends, value + 1);
                    round.await(connection, completions);
                }
                send(connection, sends, counter(receives, 0) + 1);
                awaitSuccess(completions, connection.completionQueue(), WcOpcode.SEND);
                awaitDisconnect(connection);
            }
        }
    }

    private void serverWithSharedQueue() {
        final Completions completions = new Completions();
        try (Peer peer = Peer.ofLocal(ADDRESS); LocalMemoryRegion sends = peer.allocate(LENGTH, MemoryUsage.SEND);
            LocalMemoryRegion receives = peer.allocate(LENGTH, MemoryUsage.RECEIVE);
            SharedReceiveQueueConfig queueConfig = SharedReceiveQueueConfig.create().rcqSize(RCQ_SIZE);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(queueConfig);
            ConnectionConfig config = ConnectionConfig.create().sharedReceiveQueue(shared); Endpoint endpoint = listen(peer)) {
            final RpmaCompletionQueue queue = shared.receiveCompletionQueue().orElseThrow();
            assertTrue(shared.receive(receives, 0, LENGTH, 1));
            try (Connection connection = accept(endpoint, config)) {
                for (int i = 0; i < ROUNDS; i++) {
                    final WorkCompletion completion = awaitSuccess(completions, queue, WcOpcode.RECV);
                    assertEquals(connection.queuePairNumber(), completion.queuePairNumber());
                    final long value = counter(receives, 0);
                    assertTrue(shared.receive(receives, 0, LENGTH, 1));
                    send(connection, sends, value + 1);
                    awaitSuccess(completions, connection.completionQueue(), WcOpcode.SEND);
                }
                awaitDisconnect(connection);
            }
        }
    }

    private static void send(final Connection connection, final LocalMemoryRegion sends, final long value) {
        putCounter(sends, 0, value);
        assertTrue(connection.send(sends, 0, LENGTH, CompletionFlag.ALWAYS, 2));
    }

    private static void awaitInMainQueue(final Connection connection, final Completions completions) {
        completions.await(connection.completionQueue(), 2);
        final int both = completions.at(0).opcode() + completions.at(1).opcode();
        assertEquals(WcOpcode.SEND + WcOpcode.RECV, both);
    }

    private static void awaitInBothQueues(final Connection connection, final Completions completions) {
        awaitSuccess(completions, connection.completionQueue(), WcOpcode.SEND);
        awaitSuccess(completions, connection.receiveCompletionQueue().orElseThrow(), WcOpcode.RECV);
    }

    private static void awaitOnSharedChannel(final Connection connection, final Completions completions) {
        int missing = 2;
        while (missing > 0) {
            final RpmaCompletionQueue queue = connection.awaitCompletions(TIMEOUT_MS).orElseThrow();
            // An event may belong to completions that were polled after the previous one.
            missing -= queue.poll(completions.records(), 0, 2);
        }
    }
}
