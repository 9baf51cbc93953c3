package io.ringpoll.internal.connections;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RpmaObjects;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class BufferPoolTest {
    @Test
    void shouldPassTheMemoryOfAnEndedConnectionToTheNextOne() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final BufferPool pool = new BufferPool(RpmaObjects.of(peer), new BufferSizes(2, 2, 100));
            final MessageBuffers first = pool.take();
            final MessageBuffers second = pool.take();
            assertNotSame(first, second);
            assertFalse(pool.giveBack(first));
            assertSame(first, pool.take());
            assertFalse(pool.release(), "both are in use");
            assertFalse(pool.giveBack(first));
            assertTrue(pool.giveBack(second), "the last one");
        }
    }

    @Test
    void shouldReleaseTheRestWhenOneReleaseFails() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final BufferPool pool = new BufferPool(RpmaObjects.of(peer), new BufferSizes(2, 2, 100));
            final MessageBuffers first = pool.take();
            final MessageBuffers second = pool.take();
            pool.giveBack(first);
            pool.giveBack(second);
            try (FaultInjection ignored = FaultInjection.apply(FaultPlan.parse("call:ibv_dereg_mr:EINVAL@1"))) {
                assertThrows(RdmaException.class, pool::release);
            }
            assertTrue(second.region().isClosed());
            assertTrue(pool.release());
        }
    }

    @Test
    void shouldNotCountMemoryThatCannotBeAllocatedAsInUse() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final BufferPool pool = new BufferPool(RpmaObjects.of(peer), new BufferSizes(1 << 16, 1, Integer.MAX_VALUE));
            assertThrows(IllegalArgumentException.class, pool::take);
            assertTrue(pool.release());
        }
    }
}
