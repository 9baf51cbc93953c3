package io.ringpoll.internal.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
        final long id = ring.messageId();
        ring.onMessage(id);
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
    void shouldNotCountASendWithoutABufferAsAMessage() {
        post();
        final long other = ring.otherSendId();
        ring.onOtherSend(other);
        assertEquals(BUFFERS - 1, ring.free());
        assertEquals(1, ring.otherSends());
        assertEquals(memory.sendOffset(1), ring.nextOffset());
        assertNotEquals(other, ring.messageId());
        ring.onCompleted(other);
        assertEquals(BUFFERS, ring.free());
        assertEquals(0, ring.otherSends());
    }

    @Test
    void shouldSignalOneInSoManySends() {
        int signalled = 0;
        for (int i = 0; i < 5 * INTERVAL; i++) {
            final long id = i % 3 == 0 ? ring.otherSendId() : ring.messageId();
            signalled += ring.isSignaled(id) ? 1 : 0;
            if (i % 3 == 0) {
                ring.onOtherSend(id);
            } else {
                ring.onMessage(id);
            }
        }
        assertEquals(5, signalled);
    }
}
