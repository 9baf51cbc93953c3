package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SendBuffersTest {
    private static final int COUNT = 16;

    @Test
    void shouldReleaseAllSendsUpToACompletion() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); LocalMemoryRegion region = peer.allocate(4096, MemoryUsage.SEND)) {
            final SendBuffers buffers = new SendBuffers(region, 4096 / COUNT, COUNT);
            // Includes the wrap of its own records.
            for (int round = 0; round < 3 * COUNT; round++) {
                post(buffers, false);
                post(buffers, false);
                final int signalled = post(buffers, true);
                post(buffers, false);
                assertEquals(COUNT - 4, buffers.available());
                buffers.onSent(signalled);
                assertEquals(COUNT - 1, buffers.available());
                buffers.onSent(post(buffers, true));
                assertEquals(COUNT, buffers.available());
            }
        }
    }

    @Test
    void shouldSignalPeriodicallyAndWhenFewBuffersAreFree() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); LocalMemoryRegion region = peer.allocate(4096, MemoryUsage.SEND)) {
            final SendBuffers buffers = new SendBuffers(region, 4096 / COUNT, COUNT);
            for (int i = 0; i < COUNT / 4; i++) {
                assertFalse(buffers.isSignalNeeded(), "after " + i);
                post(buffers, false);
            }
            assertTrue(buffers.isSignalNeeded());
            post(buffers, true);
            assertFalse(buffers.isSignalNeeded());
            while (buffers.available() > COUNT / 2) {
                post(buffers, true);
            }
            assertTrue(buffers.isSignalNeeded());
        }
    }

    private static int post(final SendBuffers buffers, final boolean signalled) {
        final int slot = buffers.take();
        buffers.onPosted(slot, signalled);
        return slot;
    }
}
