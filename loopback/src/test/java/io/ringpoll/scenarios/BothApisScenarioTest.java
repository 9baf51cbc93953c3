package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.OtherThread;
import io.ringpoll.testing.PersistentFile;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The examples of librpma over librpma and over verbs, with server and client on their own threads. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BothApisScenarioTest {
    private static final int TIMEOUT_MS = ConnectedPair.TIMEOUT_MS;
    private static final String ADDRESS = TestDevice.address();
    private static final RcConfig CONFIG = RcConfig.of(10, 10, 20);
    private static final long VALUE = 0x1122334455667788L;
    private static final int LENGTH = 1024;
    private static final int ROUNDS = 100;
    private static final int CLIENTS = 8;
    private static final int IMMEDIATE = 0x8765_4321;
    private static final String TEXT = "Hello server!";

    private final Completions completions = new Completions();
    private final Completions serverCompletions = new Completions();

    /** The program of one side. */
    private interface Side {
        void run(RcPeer peer, RcConnection connection);
    }

    /** Connects, runs both programs, and disconnects from the client's side; the server has posted a receive before. */
    private static void play(
        final RdmaApi api, final RcConfig config, final RcMemory memory, final RcPeer serverPeer, final Side server,
        final Side client) {
        try (RcListener listener = serverPeer.listen(ADDRESS, 0)) {
            final OtherThread<Void> other = OtherThread.run(() -> {
                final RcRequest request = listener.nextRequest(config, TIMEOUT_MS).orElseThrow();
                assertTrue(request.receive(memory, 0, LENGTH, 7));
                try (RcConnection connection = request.connect(memory.descriptor())) {
                    connection.awaitEstablished(TIMEOUT_MS);
                    server.run(serverPeer, connection);
                    assertEquals(Optional.of(RcEvent.CLOSED), connection.nextEvent(TIMEOUT_MS));
                    connection.disconnect();
                }
                return null;
            });
            try (RcPeer peer = api.ofRemote(ADDRESS);
                RcConnection connection = peer.request(ADDRESS, listener.port(), config).connect()) {
                connection.awaitEstablished(TIMEOUT_MS);
                client.run(peer, connection);
                connection.disconnect();
                assertEquals(Optional.of(RcEvent.CLOSED), connection.nextEvent(TIMEOUT_MS));
            }
            other.result();
        }
    }

    private static void play(final RdmaApi api, final RcConfig config, final Side server, final Side client) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcMemory memory = peer.allocate(LENGTH, RcUsage.values())) {
            play(api, config, memory, peer, server, client);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldConnectExchangePrivateDataAndDisconnect(final RdmaApi api) {
        final byte[] greeting = "Hello server!".getBytes(StandardCharsets.UTF_8);
        final byte[] answer = "Hello client!".getBytes(StandardCharsets.UTF_8);
        try (RcPeer peer = api.ofLocal(ADDRESS); RcListener listener = peer.listen(ADDRESS, 0)) {
            final OtherThread<Void> server = OtherThread.run(() -> {
                final RcRequest request = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow();
                // InfiniBand and RoCE fill private data up with zeros.
                assertEquals("Hello server!", new String(request.privateData(), 0, greeting.length, StandardCharsets.UTF_8));
                try (RcConnection connection = request.connect(answer)) {
                    connection.awaitEstablished(TIMEOUT_MS);
                    assertEquals(
                        "Hello server!", new String(connection.privateData(), 0, greeting.length, StandardCharsets.UTF_8));
                    assertEquals(Optional.of(RcEvent.CLOSED), connection.nextEvent(TIMEOUT_MS));
                }
                return null;
            });
            try (RcConnection connection = peer.request(ADDRESS, listener.port(), CONFIG).connect(greeting)) {
                connection.awaitEstablished(TIMEOUT_MS);
                assertEquals("Hello client!", new String(connection.privateData(), 0, answer.length, StandardCharsets.UTF_8));
                connection.disconnect();
                assertEquals(Optional.of(RcEvent.CLOSED), connection.nextEvent(TIMEOUT_MS));
            }
            server.result();
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteFlushAndReadTheOtherSidesMemory(final RdmaApi api) {
        try (RcPeer server = api.ofLocal(ADDRESS); RcMemory memory = server.allocate(LENGTH, RcUsage.values())) {
            play(api, CONFIG, memory, server, (peer, connection) -> { }, (peer, connection) -> {
                try (RcMemory source = peer.allocate(LENGTH, RcUsage.WRITE_SOURCE);
                    RcMemory target = peer.allocate(LENGTH, RcUsage.READ_DESTINATION);
                    RcRemoteMemory remote = remote(peer, connection, source)) {
                    source.memory().setString(0, TEXT);
                    assertTrue(connection.write(remote, 0, source, 0, LENGTH, false, 1));
                    assertTrue(connection.flush(remote, 0, LENGTH, false, 2));
                    assertTrue(connection.read(target, 0, remote, 0, LENGTH, true, 3));
                    assertEquals(3, success(completions, connection.completionQueue(), WcOpcode.RDMA_READ).workRequestId());
                    assertEquals(TEXT, target.memory().getString(0));
                    assertThrows(
                        IndexOutOfBoundsException.class, () -> connection.flush(remote, LENGTH - Long.BYTES, LENGTH, true, 5));
                    assertThrows(NullPointerException.class, () -> connection.flush(null, 0, 1, true, 5));
                    assertThrows(IllegalStateException.class, peer::close);
                    assertTrue(connection.flush(remote, LENGTH - Long.BYTES, 1, true, 4));
                    assertEquals(4, success(completions, connection.completionQueue(), WcOpcode.RDMA_READ).workRequestId());
                    for (int i = 1; i <= 3; i++) {
                        assertTrue(connection.atomicWrite(remote, LENGTH - Long.BYTES, VALUE + i, i == 3, 4 + i));
                    }
                    assertEquals(7, success(completions, connection.completionQueue(), WcOpcode.RDMA_WRITE).workRequestId());
                    assertThrows(IndexOutOfBoundsException.class, () -> connection.atomicWrite(remote, LENGTH, 0, true, 8));
                    assertThrows(RuntimeException.class, () -> connection.atomicWrite(remote, 4, 0, true, 8));
                    assertThrows(NullPointerException.class, () -> connection.atomicWrite(null, 0, 0, true, 8));
                }
            });
            assertEquals(TEXT, memory.memory().getString(0));
            assertEquals(VALUE + 3, memory.memory().get(ValueLayout.JAVA_LONG, LENGTH - Long.BYTES));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReadToPersistentMemory(final RdmaApi api) {
        try (RcPeer server = api.ofLocal(ADDRESS); RcMemory memory = server.allocate(LENGTH, RcUsage.values())) {
            memory.memory().setString(0, TEXT);
            play(api, CONFIG, memory, server, (peer, connection) -> { }, (peer, connection) -> {
                try (PersistentFile file = new PersistentFile(LENGTH);
                    RcMemory target = peer.register(file.memory(), RcUsage.READ_DESTINATION);
                    RcRemoteMemory remote = remote(peer, connection, target)) {
                    assertTrue(connection.read(target, 0, remote, 0, LENGTH, true, 1));
                    success(completions, connection.completionQueue(), WcOpcode.RDMA_READ);
                    file.persist();
                    assertEquals(TEXT, file.textInFile());
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldWriteToPersistentMemoryAndReadAfterTheWrite(final RdmaApi api) {
        writeToPersistent(api, (connection, remote, source) ->
            assertTrue(connection.read(source, LENGTH - Long.BYTES, remote, 0, Long.BYTES, true, 2)));
    }

    @ParameterizedTest
    @EnumSource
    void shouldFlushToPersistentMemory(final RdmaApi api) {
        writeToPersistent(
            api, (connection, remote, source) -> assertTrue(connection.flush(remote, 0, LENGTH, true, 2)));
    }

    /** What the client posts behind its write, to learn that the data has arrived. */
    private interface Confirmation {
        void post(RcConnection connection, RcRemoteMemory remote, RcMemory source);
    }

    private void writeToPersistent(final RdmaApi api, final Confirmation confirmation) {
        try (PersistentFile file = new PersistentFile(LENGTH); RcPeer server = api.ofLocal(ADDRESS);
            RcMemory memory = server.register(file.memory(), RcUsage.values())) {
            play(api, CONFIG, memory, server, (peer, connection) -> { }, (peer, connection) -> {
                try (RcMemory source = peer.allocate(LENGTH, RcUsage.WRITE_SOURCE, RcUsage.READ_DESTINATION);
                    RcRemoteMemory remote = remote(peer, connection, source)) {
                    source.memory().setString(0, TEXT);
                    assertTrue(connection.write(remote, 0, source, 0, LENGTH / 2, false, 1));
                    confirmation.post(connection, remote, source);
                    assertEquals(2, success(completions, connection.completionQueue(), WcOpcode.RDMA_READ).workRequestId());
                    // The server's CPU takes no part.
                    assertEquals(TEXT, file.textInFile());
                }
            });
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldCarryImmediateDataWithAMessage(final RdmaApi api) {
        play(api, CONFIG,
            (peer, connection) -> requireImmediate(success(serverCompletions, connection.completionQueue(), WcOpcode.RECV)),
            (peer, connection) -> {
                try (RcMemory source = peer.allocate(LENGTH, RcUsage.SEND)) {
                    assertTrue(connection.sendWithImmediate(source, 0, Long.BYTES, true, IMMEDIATE, 1));
                    success(completions, connection.completionQueue(), WcOpcode.SEND);
                }
            });
    }

    @ParameterizedTest
    @EnumSource
    void shouldCarryImmediateDataWithAWrite(final RdmaApi api) {
        play(api, CONFIG, (peer, connection) -> requireImmediate(
            success(serverCompletions, connection.completionQueue(), WcOpcode.RECV_RDMA_WITH_IMM)),
            (peer, connection) -> {
                try (RcMemory source = peer.allocate(LENGTH, RcUsage.WRITE_SOURCE);
                    RcRemoteMemory remote = remote(peer, connection, source)) {
                    assertTrue(connection.writeWithImmediate(remote, 32, source, 0, Long.BYTES, true, IMMEDIATE, 1));
                    success(completions, connection.completionQueue(), WcOpcode.RDMA_WRITE);
                }
            });
    }

    private static void requireImmediate(final WorkCompletion completion) {
        assertEquals(7, completion.workRequestId());
        assertEquals(Long.BYTES, completion.lengthBytes());
        assertTrue(completion.hasImmediate());
        assertEquals(IMMEDIATE, completion.immediate());
    }

    @ParameterizedTest
    @EnumSource
    void shouldPlayPingPongWithOneCompletionQueue(final RdmaApi api) {
        pingPong(api, CONFIG);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPlayPingPongWithAReceiveQueue(final RdmaApi api) {
        pingPong(api, CONFIG.withReceiveQueue(10));
    }

    @ParameterizedTest
    @EnumSource
    void shouldPlayPingPongWithAReceiveQueueOnASharedChannel(final RdmaApi api) {
        pingPong(api, CONFIG.withReceiveQueue(10).withSharedChannel(true));
    }

    private void pingPong(final RdmaApi api, final RcConfig config) {
        try (RcPeer server = api.ofLocal(ADDRESS); RcMemory memory = server.allocate(LENGTH, RcUsage.values())) {
            play(api, config, memory, server, (peer, connection) -> {
                success(serverCompletions, receives(connection), WcOpcode.RECV);
                for (int round = 0; round < ROUNDS; round++) {
                    final long value = memory.memory().get(ValueLayout.JAVA_LONG, 0);
                    assertTrue(connection.receive(memory, 0, LENGTH / 2, 7));
                    memory.memory().set(ValueLayout.JAVA_LONG, LENGTH / 2, value + 1);
                    assertTrue(connection.send(memory, LENGTH / 2, Long.BYTES, true, 8));
                    if (round < ROUNDS - 1) {
                        sentAndReceived(serverCompletions, connection);
                    } else {
                        success(serverCompletions, connection.completionQueue(), WcOpcode.SEND);
                    }
                }
            }, (peer, connection) -> {
                try (RcMemory own = peer.allocate(LENGTH, RcUsage.SEND, RcUsage.RECEIVE)) {
                    for (long round = 0; round < ROUNDS; round++) {
                        // First the receive: the answer may arrive before the send's completion.
                        assertTrue(connection.receive(own, 0, LENGTH / 2, 1));
                        own.memory().set(ValueLayout.JAVA_LONG, LENGTH / 2, round);
                        assertTrue(connection.send(own, LENGTH / 2, Long.BYTES, true, 2));
                        sentAndReceived(completions, connection);
                        assertEquals(round + 1, own.memory().get(ValueLayout.JAVA_LONG, 0));
                    }
                }
            });
        }
    }

    /** Awaits the completions of a message and of a receive, in any order. */
    private static void sentAndReceived(final Completions completions, final RcConnection connection) {
        if (connection.receiveCompletionQueue().isPresent()) {
            success(completions, connection.completionQueue(), WcOpcode.SEND);
            success(completions, receives(connection), WcOpcode.RECV);
        } else {
            completions.await(connection.completionQueue(), 2);
            assertEquals(WcOpcode.SEND + WcOpcode.RECV, completions.at(0).opcode() + completions.at(1).opcode());
        }
    }

    private static CompletionQueue receives(final RcConnection connection) {
        return connection.receiveCompletionQueue().orElse(connection.completionQueue());
    }

    @ParameterizedTest
    @EnumSource
    void shouldServeManyConnectionsOfOnePeer(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcMemory memory = peer.allocate(CLIENTS * LENGTH, RcUsage.values());
            RcListener listener = peer.listen(ADDRESS, 0)) {
            final List<RcConnection> connections = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                final RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
                final RcRequest request = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow();
                assertTrue(request.receive(memory, i * LENGTH, LENGTH, i));
                final RcConnection server = request.connect();
                client.awaitEstablished(TIMEOUT_MS);
                server.awaitEstablished(TIMEOUT_MS);
                connections.add(client);
                connections.add(server);
            }
            for (int i = 0; i < CLIENTS; i++) {
                assertTrue(connections.get(2 * i).send(memory, i * LENGTH, i, true, i));
            }
            for (int i = 0; i < CLIENTS; i++) {
                final CompletionQueue received = connections.get(2 * i + 1).completionQueue();
                final WorkCompletion completion = success(completions, received, WcOpcode.RECV);
                assertEquals(i, completion.workRequestId());
                assertEquals(i, completion.lengthBytes());
                assertEquals(connections.get(2 * i + 1).queuePairNumber(), completion.queuePairNumber());
            }
            connections.forEach(RcConnection::disconnect);
            connections.forEach(RcConnection::close);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldFlushOutstandingReceivesOnDisconnect(final RdmaApi api) {
        try (RcPeer peer = api.ofLocal(ADDRESS); RcMemory memory = peer.allocate(LENGTH, RcUsage.RECEIVE);
            RcListener listener = peer.listen(ADDRESS, 0);
            RcConnection client = peer.request(ADDRESS, listener.port(), CONFIG).connect();
            RcConnection server = listener.nextRequest(CONFIG, TIMEOUT_MS).orElseThrow().connect()) {
            client.awaitEstablished(TIMEOUT_MS);
            server.awaitEstablished(TIMEOUT_MS);
            assertTrue(client.receive(memory, 0, LENGTH, 5));
            assertTrue(server.receive(memory, 0, LENGTH, 6));
            client.disconnect();
            server.disconnect();
            requireFlushed(completions, client, 5);
            requireFlushed(serverCompletions, server, 6);
        }
    }

    private static void requireFlushed(final Completions completions, final RcConnection connection, final long id) {
        final WorkCompletion completion = completions.awaitOne(connection.completionQueue());
        assertEquals(id, completion.workRequestId());
        assertEquals(WcStatus.WR_FLUSH_ERR, completion.status());
    }

    @ParameterizedTest
    @EnumSource
    void shouldRefuseWhatTheBudgetDoesNotHold(final RdmaApi api) {
        final RcConfig small = RcConfig.of(4, 4, 4);
        play(api, small, (peer, connection) -> { }, (peer, connection) -> {
            try (RcMemory memory = peer.allocate(LENGTH, RcUsage.RECEIVE)) {
                int accepted = 0;
                while (connection.receive(memory, 0, LENGTH, accepted)) {
                    accepted++;
                    assertTrue(accepted < 1000, "receives are accepted without end");
                }
                assertTrue(accepted >= 4, () -> "too few");
                assertFalse(connection.receive(memory, 0, LENGTH, 0));
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportThatNobodyListens(final RdmaApi api) {
        final int free;
        try (RcPeer peer = api.ofLocal(ADDRESS)) {
            try (RcListener listener = peer.listen(ADDRESS, 0)) {
                free = listener.port();
            }
            try (RcConnection connection = peer.request(ADDRESS, free, CONFIG).connect()) {
                assertEquals(RcEvent.REJECTED, connection.firstEvent(TIMEOUT_MS));
            }
        }
    }

    private static RcRemoteMemory remote(final RcPeer peer, final RcConnection connection, final RcMemory alike) {
        // The transport pads private data.
        return peer.remote(Arrays.copyOf(connection.privateData(), alike.descriptor().length));
    }

    private static WorkCompletion success(final Completions completions, final CompletionQueue queue, final int opcode) {
        final WorkCompletion completion = completions.awaitOne(queue);
        assertEquals(WcStatus.SUCCESS, completion.status(), completion::toString);
        assertEquals(WcOpcode.name(opcode), WcOpcode.name(completion.opcode()));
        return completion;
    }
}
