package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Examples 10 and 11: 32 bits of immediate data arrive with a message, or notify the server that its memory was written. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ImmediateDataScenarioTest extends Scenario {
    private static final int IMMEDIATE = 0x8765_4321;
    private static final long WORD = 0x0102_0304_0506_0708L;
    private static final int LENGTH = 64;

    private final Completions completions = new Completions();
    private final Completions serverCompletions = new Completions();

    @Test
    void shouldSendImmediateDataWithAMessage() {
        run(() -> server(WcOpcode.RECV), this::send);
    }

    @Test
    void shouldWriteWithImmediateData() {
        run(() -> server(WcOpcode.RECV_RDMA_WITH_IMM), this::write);
    }

    private void server(final int opcode) {
        try (Peer peer = Peer.ofLocal(ADDRESS);
            LocalMemoryRegion memory = peer.allocate(LENGTH, MemoryUsage.RECEIVE, MemoryUsage.WRITE_DESTINATION);
            Endpoint endpoint = listen(peer)) {
            final ConnectionRequest request = endpoint.nextRequest(TIMEOUT_MS).orElseThrow();
            // Both consume a receive; the write leaves its buffer alone.
            assertTrue(request.receive(memory, 0, LENGTH, 7));
            try (Connection connection = request.connect(memory.descriptor())) {
                awaitEvent(connection, ConnectionEvent.ESTABLISHED);
                final WorkCompletion completion = awaitSuccess(serverCompletions, connection.completionQueue(), opcode);
                assertEquals(7, completion.workRequestId());
                assertEquals(Long.BYTES, completion.lengthBytes());
                assertTrue(completion.hasImmediate());
                assertEquals(IMMEDIATE, completion.immediate());
                assertEquals(WORD, counter(memory, opcode == WcOpcode.RECV ? 0 : 32));
                awaitDisconnect(connection);
            }
        }
    }

    private void send() {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion source = peer.allocate(LENGTH, MemoryUsage.SEND);
            Connection connection = connect(peer, null)) {
            putCounter(source, 0, WORD);
            assertTrue(connection.sendWithImmediate(source, 0, Long.BYTES, CompletionFlag.ALWAYS, IMMEDIATE, 1));
            awaitSuccess(completions, connection.completionQueue(), WcOpcode.SEND);
            disconnect(connection);
        }
    }

    private void write() {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion source = peer.allocate(LENGTH, MemoryUsage.WRITE_SOURCE);
            Connection connection = connect(peer, null);
            RemoteMemoryRegion destination = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
            putCounter(source, 0, WORD);
            assertTrue(
                connection.writeWithImmediate(destination, 32, source, 0, Long.BYTES, CompletionFlag.ALWAYS, IMMEDIATE, 1));
            awaitSuccess(completions, connection.completionQueue(), WcOpcode.RDMA_WRITE);
            disconnect(connection);
        }
    }
}
