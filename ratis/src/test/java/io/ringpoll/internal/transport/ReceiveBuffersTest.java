package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReceiveBuffersTest {
    private static final int BUFFER_BYTES = 256;
    private static final int MOST = 4096 + 100;

    private final Peer peer = Peer.ofLocal(TestDevice.address());
    private final SharedReceiveQueue queue;
    private final ReceiveBuffers buffers;

    ReceiveBuffersTest() {
        try (SharedReceiveQueueConfig sizes = SharedReceiveQueueConfig.create()) {
            queue = peer.sharedReceiveQueue(sizes.rqSize(MOST).rcqSize(MOST));
        }
        buffers = new ReceiveBuffers(peer, queue, BUFFER_BYTES);
    }

    @AfterEach
    void close() {
        queue.close();
        buffers.close();
        peer.close();
    }

    @Test
    void shouldUseSeparateMemoryForEachReceiveAcrossBlocks() {
        buffers.ensure(MOST);
        // A second block begins at slot 4096.
        final int[] slots = {0, 1, 4094, 4095, 4096, 4097, MOST - 1};
        for (final int slot : slots) {
            final ByteBuffer frame = buffers.frame(slot, BUFFER_BYTES);
            for (int i = 0; i < BUFFER_BYTES; i++) {
                frame.put(i, (byte) slot);
            }
        }
        for (final int slot : slots) {
            final ByteBuffer frame = buffers.frame(slot, BUFFER_BYTES - 1);
            assertEquals(BUFFER_BYTES - 1, frame.limit());
            for (int i = 0; i < BUFFER_BYTES - 1; i++) {
                assertEquals((byte) slot, frame.get(i), "byte " + i + " of slot " + slot);
            }
        }
    }
}
