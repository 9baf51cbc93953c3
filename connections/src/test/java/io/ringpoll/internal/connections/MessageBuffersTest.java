package io.ringpoll.internal.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MessageBuffersTest {
    private static final int PAGE_BYTES = 4096;
    private static final int LINES_OF_PAGE = PAGE_BYTES / BufferSizes.LINE_BYTES;

    @Test
    void shouldBeginAtAllCacheLinesOfAPageInTheMemoryOfManyConnections() {
        final Set<Long> begins = new HashSet<>();
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            for (int number = 0; number < LINES_OF_PAGE; number++) {
                final MessageBuffers buffers = new MessageBuffers(RpmaObjects.of(peer), new BufferSizes(4, 2, 64), number);
                final long begin = buffers.newView().addressOffset();
                assertEquals(0, begin % BufferSizes.LINE_BYTES);
                begins.add(begin % PAGE_BYTES);
                buffers.release();
            }
        }
        assertEquals(LINES_OF_PAGE, begins.size());
    }

    @Test
    void shouldBeginAtAllCacheLinesOfAPageInTheBuffersOfAConnection() {
        for (final int maxMessageBytes : new int[] {1, 64, 65, 1024, 4096, 8192, 1_000_000}) {
            final int strideBytes = new BufferSizes(71, 64, maxMessageBytes).strideBytes();
            assertEquals(0, strideBytes % BufferSizes.LINE_BYTES);
            assertTrue(strideBytes >= maxMessageBytes && strideBytes < maxMessageBytes + 2 * BufferSizes.LINE_BYTES,
                () -> strideBytes + " for " + maxMessageBytes);
            final Set<Integer> begins = new HashSet<>();
            for (int buffer = 0; buffer < LINES_OF_PAGE; buffer++) {
                begins.add(buffer * strideBytes % PAGE_BYTES);
            }
            assertEquals(LINES_OF_PAGE, begins.size(), "a maximum of " + maxMessageBytes);
        }
    }

    @Test
    void shouldUseTheWholeLengthOfItsMemory() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final BufferSizes sizes = new BufferSizes(8, 4, 100);
            final MessageBuffers buffers = new MessageBuffers(RpmaObjects.of(peer), sizes, 5);
            assertEquals(sizes.memoryBytes(), buffers.newView().capacity());
            assertEquals(sizes.memoryBytes(), buffers.sendOffset(sizes.sends() - 1) + buffers.strideBytes());
            buffers.release();
        }
    }
}
