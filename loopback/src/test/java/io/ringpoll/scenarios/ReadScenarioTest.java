package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Examples 02 and 03: the client reads the server's memory, into volatile memory or straight into persistent memory. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReadScenarioTest extends Scenario {
    private static final String TEXT = "Hello client!";
    private static final int LENGTH = 1024;

    private final Completions completions = new Completions();

    @Test
    void shouldReadToVolatileMemory() {
        run(this::server, this::readToVolatile);
    }

    @Test
    void shouldReadToPersistentMemory() {
        run(this::server, this::readToPersistent);
    }

    private void server() {
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = listen(peer);
            LocalMemoryRegion memory = peer.allocate(LENGTH, MemoryUsage.READ_SOURCE)) {
            putText(memory, TEXT);
            // The client learns of the memory by the private data.
            try (Connection connection = accept(endpoint, null, memory.descriptor())) {
                awaitDisconnect(connection);
            }
        }
    }

    private void readToVolatile() {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion memory = peer.allocate(LENGTH, MemoryUsage.READ_DESTINATION)) {
            read(peer, memory);
            assertEquals(TEXT, text(memory));
        }
    }

    private void readToPersistent() {
        try (PersistentFile file = new PersistentFile(LENGTH); Peer peer = Peer.ofRemote(ADDRESS);
            LocalMemoryRegion memory = peer.register(file.memory(), MemoryUsage.READ_DESTINATION)) {
            read(peer, memory);
            file.persist();
            assertEquals(TEXT, file.textInFile());
        }
    }

    private void read(final Peer peer, final LocalMemoryRegion destination) {
        try (Connection connection = connect(peer, null);
            RemoteMemoryRegion source = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
            assertTrue(connection.read(destination, 0, source, 0, LENGTH, CompletionFlag.ALWAYS, 1));
            awaitSuccess(completions, connection.completionQueue(), WcOpcode.RDMA_READ);
            disconnect(connection);
        }
    }
}
