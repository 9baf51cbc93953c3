package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.FlushType;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.PeerConfig;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.PersistentFile;
import io.ringpoll.testing.TestDevice;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Examples 04, 05 and 07: the client writes to the server's persistent memory, and makes sure that the data has arrived: by a
 * read after the write, by a flush to persistence, and by an atomic write of the end of the data.
 */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WriteScenarioTest extends Scenario {
    private static final String TEXT = "Hello server!";
    private static final int LENGTH = 1024;
    private static final int LOG_START = 8;

    private final Completions completions = new Completions();

    @Test
    void shouldWriteToPersistentMemoryAndReadAfterTheWrite() {
        run(this::server, this::writeAndReadAfterWrite);
    }

    @Test
    void shouldFlushWhatWasWrittenDownToPersistence() {
        run(this::serverWithDirectWrite, this::writeAndFlush);
    }

    @Test
    void shouldAppendToALogWhoseEndIsWrittenAtomically() {
        run(this::serverOfALog, this::append);
    }

    private void server() {
        try (PersistentFile file = new PersistentFile(LENGTH); Peer peer = Peer.ofLocal(ADDRESS);
            Endpoint endpoint = listen(peer);
            LocalMemoryRegion memory =
                peer.register(file.memory(), MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE)) {
            try (Connection connection = accept(endpoint, null, memory.descriptor())) {
                awaitDisconnect(connection);
            }
            assertEquals(TEXT, file.textInFile());
        }
    }

    private void writeAndReadAfterWrite() {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion source = peer.allocate(LENGTH, MemoryUsage.WRITE_SOURCE);
            LocalMemoryRegion few = peer.allocate(8, MemoryUsage.READ_DESTINATION);
            Connection connection = connect(peer, null);
            RemoteMemoryRegion destination = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
            putText(source, TEXT);
            assertTrue(connection.write(destination, 0, source, 0, LENGTH, CompletionFlag.ON_ERROR, 1));
            // A read of the same memory is answered after the write has arrived there.
            assertTrue(connection.read(few, 0, destination, 0, 8, CompletionFlag.ALWAYS, 2));
            assertEquals(2, awaitSuccess(completions, connection.completionQueue(), WcOpcode.RDMA_READ).workRequestId());
            disconnect(connection);
        }
    }

    private void serverWithDirectWrite() {
        try (PersistentFile file = new PersistentFile(LENGTH); Peer peer = Peer.ofLocal(ADDRESS);
            Endpoint endpoint = listen(peer);
            LocalMemoryRegion memory =
                peer.register(file.memory(), MemoryUsage.WRITE_DESTINATION, MemoryUsage.FLUSH_PERSISTENT);
            PeerConfig config = PeerConfig.create().directWriteToPmem(true)) {
            try (Connection connection = accept(endpoint, null, join(memory.descriptor(), config.descriptor()))) {
                awaitDisconnect(connection);
            }
            assertEquals(TEXT, file.textInFile());
        }
    }

    private void writeAndFlush() {
        try (Peer peer = Peer.ofRemote(ADDRESS); LocalMemoryRegion source = peer.allocate(LENGTH, MemoryUsage.WRITE_SOURCE);
            Connection connection = connect(peer, null)) {
            final byte[] privateData = connection.privateData();
            // The region's descriptor, and behind it that of the peer's configuration.
            final int length = source.descriptor().length;
            try (RemoteMemoryRegion destination = RemoteMemoryRegion.ofDescriptor(privateData);
                PeerConfig config = PeerConfig.ofDescriptor(Arrays.copyOfRange(privateData, length, privateData.length))) {
                connection.applyRemotePeerConfig(config);
                putText(source, TEXT);
                assertTrue(connection.write(destination, 0, source, 0, LENGTH, CompletionFlag.ON_ERROR, 1));
                assertTrue(connection.flush(destination, 0, LENGTH, FlushType.PERSISTENT, CompletionFlag.ALWAYS, 2));
                assertEquals(2, awaitSuccess(completions, connection.completionQueue(), WcOpcode.RDMA_READ).workRequestId());
                disconnect(connection);
            }
        }
    }

    private void serverOfALog() {
        try (Peer peer = Peer.ofLocal(ADDRESS); Endpoint endpoint = listen(peer);
            LocalMemoryRegion log = peer.allocate(LENGTH, MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE,
                MemoryUsage.FLUSH_VISIBILITY)) {
            putCounter(log, 0, LOG_START);
            try (Connection connection = accept(endpoint, null, log.descriptor())) {
                awaitDisconnect(connection);
            }
            assertEquals(LOG_START + 2 * Long.BYTES, counter(log, 0));
            assertEquals(101, counter(log, LOG_START));
            assertEquals(102, counter(log, LOG_START + Long.BYTES));
        }
    }

    private void append() {
        try (Peer peer = Peer.ofRemote(ADDRESS);
            LocalMemoryRegion entry = peer.allocate(LENGTH, MemoryUsage.WRITE_SOURCE, MemoryUsage.READ_DESTINATION);
            Connection connection = connect(peer, null);
            RemoteMemoryRegion log = RemoteMemoryRegion.ofDescriptor(connection.privateData())) {
            for (long value = 101; value <= 102; value++) {
                assertTrue(connection.read(entry, 0, log, 0, Long.BYTES, CompletionFlag.ALWAYS, 1));
                awaitSuccess(completions, connection.completionQueue(), WcOpcode.RDMA_READ);
                final long end = counter(entry, 0);
                putCounter(entry, Long.BYTES, value);
                assertTrue(connection.write(log, end, entry, Long.BYTES, Long.BYTES, CompletionFlag.ON_ERROR, 2));
                assertTrue(connection.flush(log, end, Long.BYTES, FlushType.VISIBILITY, CompletionFlag.ON_ERROR, 3));
                // Ordered after the flush: a reader of the new end also reads the entry.
                assertTrue(connection.atomicWrite(log, 0, end + Long.BYTES, CompletionFlag.ON_ERROR, 4));
                assertTrue(connection.flush(log, 0, Long.BYTES, FlushType.VISIBILITY, CompletionFlag.ALWAYS, 5));
                assertEquals(5, awaitSuccess(completions, connection.completionQueue(), WcOpcode.RDMA_READ).workRequestId());
            }
            disconnect(connection);
        }
    }

    private static byte[] join(final byte[] first, final byte[] second) {
        final byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }
}
