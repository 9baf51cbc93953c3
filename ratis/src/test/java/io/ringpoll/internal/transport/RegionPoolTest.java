package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RegionPoolTest {
    private static final int LEAST = 64 * 1024;

    private final RcPeer peer = RdmaApi.RPMA.ofLocal(TestDevice.address());
    private final List<Runnable> closes = new ArrayList<>();
    private final RegionPool pool = new RegionPool(peer, closes::add, 2 * LEAST, 0, RcUsage.READ_SOURCE);

    @AfterEach
    void close() {
        pool.close();
        closes.forEach(Runnable::run);
        peer.close();
    }

    private static long lengthBytes(final RegionPool.Lease lease) {
        return lease.region().lengthBytes();
    }

    @Test
    void shouldRoundTheRegionUpToAPowerOfTwo() {
        for (final int[] wantedAndGot : new int[][] {{0, LEAST}, {1, LEAST}, {LEAST - 1, LEAST}, {LEAST, LEAST},
            {LEAST + 1, 2 * LEAST}, {2 * LEAST, 2 * LEAST}, {2 * LEAST + 1, 4 * LEAST}}) {
            final RegionPool.Lease lease = pool.take(wantedAndGot[0]);
            assertEquals(wantedAndGot[1], lengthBytes(lease), "for " + wantedAndGot[0]);
            assertEquals(wantedAndGot[0], lease.buffer(wantedAndGot[0]).capacity());
            lease.release();
        }
    }

    @Test
    void shouldReuseAReleasedRegionForOneUserAtATime() {
        final RegionPool.Lease first = pool.take(1);
        first.release();
        final RegionPool.Lease second = pool.take(LEAST);
        assertSame(first, second);
        final RegionPool.Lease third = pool.take(LEAST);
        assertNotSame(second, third);
        second.release();
        third.release();
    }

    @Test
    void shouldNotUseALongRegionForAShortMessage() {
        pool.take(2 * LEAST).release();
        final RegionPool.Lease lease = pool.take(1);
        assertEquals(LEAST, lengthBytes(lease));
        lease.release();
    }

    @Test
    void shouldLimitTheCachedMemory() {
        final RegionPool.Lease first = pool.take(LEAST);
        final RegionPool.Lease second = pool.take(LEAST);
        final RegionPool.Lease third = pool.take(LEAST);
        first.release();
        second.release();
        assertEquals(2 * LEAST, pool.cachedBytes());
        third.release();
        assertEquals(2 * LEAST, pool.cachedBytes());
        assertTrue(third.region().isClosed());
        assertFalse(second.region().isClosed());
        // A region in use again makes room.
        final RegionPool.Lease again = pool.take(LEAST);
        assertEquals(LEAST, pool.cachedBytes());
        again.release();
        assertFalse(again.region().isClosed());
    }

    @Test
    void shouldTakeOnlyRegisteredMemoryWhereRegistrationIsTooSlow() {
        assertNull(pool.takeUnused(1));
        final RegionPool.Lease lease = pool.take(1);
        assertNull(pool.takeUnused(1));
        lease.release();
        assertNull(pool.takeUnused(LEAST + 1));
        assertSame(lease, pool.takeUnused(LEAST));
        assertEquals(0, pool.cachedBytes());
        lease.release();
        assertEquals(LEAST, pool.cachedBytes());
    }

    @Test
    void shouldCloseLongRegionsOnTheExecutor() {
        final RegionPool.Lease lease = pool.take(4 * LEAST);
        lease.release();
        assertFalse(lease.region().isClosed());
        assertEquals(1, closes.size());
        closes.removeFirst().run();
        assertTrue(lease.region().isClosed());
    }

    @Test
    void shouldFreeUnusedRegionsOnCloseAndOthersOnRelease() {
        final RegionPool.Lease free = pool.take(LEAST);
        final RegionPool.Lease used = pool.take(LEAST);
        free.release();
        pool.close();
        assertTrue(free.region().isClosed());
        assertFalse(used.region().isClosed());
        assertThrows(IllegalStateException.class, () -> pool.take(LEAST));
        used.release();
        assertTrue(used.region().isClosed());
    }
}
