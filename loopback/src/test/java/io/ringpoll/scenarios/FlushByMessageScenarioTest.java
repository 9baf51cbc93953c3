package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.PersistentFile;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Examples 09 and 09scch: persistence for servers whose device does not write to persistent memory directly (general purpose
 * server persistency method). The client writes, then requests by a message that the server's CPU persists the written data.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FlushByMessageScenarioTest extends Scenario {
    private static final String TEXT = "Hello server!";
    private static final int LENGTH = 1024;
    /** A request: offset and length of the data to persist. The answer: 0. */
    private static final int MESSAGE_LENGTH = 2 * Long.BYTES;
    private static final int LENGTH_OFFSET = Long.BYTES;
    private static final long DONE = 0;

    private final Completions completions = new Completions();
    private final Completions serverCompletions = new Completions();

    @ParameterizedTest(name = "shared channel: {0}")
    @ValueSource(booleans = {false, true})
    void shouldPersistOnRequest(final boolean sharedChannel) {
        run(() -> server(sharedChannel), this::client);
    }

    private void server(final boolean sharedChannel) {
        try (PersistentFile file = new PersistentFile(LENGTH); Peer peer = Peer.ofLocal(ADDRESS);
            LocalMemoryRegion memory = peer.register(file.memory(), MemoryUsage.WRITE_DESTINATION);
            LocalMemoryRegion message = peer.allocate(MESSAGE_LENGTH, MemoryUsage.SEND, MemoryUsage.RECEIVE);
            ConnectionConfig config = ConnectionConfig.create().rcqSize(4).sharedCompletionChannel(sharedChannel);
            Endpoint endpoint = listen(peer)) {
            final ConnectionRequest request = endpoint.nextRequest(config, TIMEOUT_MS).orElseThrow();
            assertTrue(request.receive(message, 0, MESSAGE_LENGTH, 1));
            try (Connection connection = request.connect(memory.descriptor())) {
                awaitEvent(connection, ConnectionEvent.ESTABLISHED);
                awaitReceive(connection, sharedChannel);
                assertEquals(0, counter(message, 0));
                assertEquals(LENGTH, counter(message, LENGTH_OFFSET));
                file.persist();
                putCounter(message, 0, DONE);
                assertTrue(connection.send(message, 0, Long.BYTES, CompletionFlag.ALWAYS, 2));
                awaitSuccess(serverCompletions, connection.completionQueue(), WcOpcode.SEND);
                awaitDisconnect(connection);
            }
            assertEquals(TEXT, file.textInFile());
        }
    }

    private void awaitReceive(final Connection connection, final boolean sharedChannel) {
        if (sharedChannel) {
            assertEquals(connection.receiveCompletionQueue(), connection.awaitCompletions(TIMEOUT_MS));
        } else {
            assertTrue(connection.receiveCompletionQueue().orElseThrow().await(TIMEOUT_MS));
        }
        awaitSuccess(serverCompletions, connection.receiveCompletionQueue().orElseThrow(), WcOpcode.RECV);
    }

    private void client() {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion source = peer.allocate(LENGTH, MemoryUsage.WRITE_SOURCE);
            LocalMemoryRegion request = peer.allocate(MESSAGE_LENGTH, MemoryUsage.SEND);
            LocalMemoryRegion answer = peer.allocate(MESSAGE_LENGTH, MemoryUsage.RECEIVE);
            Connection connection = connect(peer, null);
            RemoteMemoryRegion destination = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
            assertTrue(connection.receive(answer, 0, MESSAGE_LENGTH, 1));
            putText(source, TEXT);
            putCounter(answer, 0, ~DONE);
            assertTrue(connection.write(destination, 0, source, 0, LENGTH, CompletionFlag.ON_ERROR, 2));
            putCounter(request, LENGTH_OFFSET, LENGTH);
            // Messages stay behind writes: when the request arrives the data has.
            assertTrue(connection.send(request, 0, MESSAGE_LENGTH, CompletionFlag.ON_ERROR, 3));
            awaitSuccess(completions, connection.completionQueue(), WcOpcode.RECV);
            assertEquals(DONE, counter(answer, 0));
            disconnect(connection);
        }
    }
}
