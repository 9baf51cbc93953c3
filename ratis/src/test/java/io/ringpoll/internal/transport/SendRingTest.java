package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.connections.BufferPool;
import io.ringpoll.internal.connections.BufferSizes;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SendRingTest {
    private static final int BUFFERS = 6;
    private static final int INTERVAL = 4;

    private final Peer peer = Peer.ofLocal(TestDevice.address());
    private final BufferPool pool = new BufferPool(RpmaObjects.of(peer), new BufferSizes(2, BUFFERS, 100));
    private final MessageBuffers memory = pool.take();
    private final SendRing ring = new SendRing(memory, INTERVAL);

    @AfterEach
    void close() {
        pool.giveBack(memory);
        assertTrue(pool.release());
        peer.close();
    }

    private long post() {
        final long id = ring.nextId();
        ring.onPosted(id);
        return id;
    }

    @Test
    void shouldReleaseAllBuffersUpToACompletion() {
        for (int round = 0; round < 3 * BUFFERS; round++) {
            post();
            final long completes = post();
            post();
            assertEquals(BUFFERS - 3, ring.free());
            ring.onCompleted(completes);
            assertEquals(BUFFERS - 1, ring.free());
            ring.onCompleted(round % 2 == 0 ? post() : ring.operationId());
            assertEquals(BUFFERS, ring.free());
        }
    }

    @Test
    void shouldUseItsBuffersInTurn() {
        for (int round = 0; round < 2; round++) {
            final Set<Integer> offsets = new HashSet<>();
            for (int i = 0; i < BUFFERS; i++) {
                assertEquals(memory.sendOffset(i), ring.nextOffset());
                offsets.add(ring.nextOffset());
                ring.onCompleted(post());
            }
            assertEquals(BUFFERS, offsets.size());
        }
    }

    @Test
    void shouldSignalOneInSoManySends() {
        int signalled = 0;
        for (int i = 0; i < 5 * INTERVAL; i++) {
            signalled += ring.isSignaled(post()) ? 1 : 0;
        }
        assertEquals(5, signalled);
    }
}
