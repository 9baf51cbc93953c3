package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRemoteMemory;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.testing.TestDevice;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RemoteRegionsTest {
    private static final int LENGTH = 1000;

    private final RcPeer peer = RdmaApi.RPMA.ofLocal(TestDevice.address());
    private final RegionPool pool = new RegionPool(peer, Runnable::run, 0, 0, RcUsage.READ_SOURCE);
    private final List<RegionPool.Lease> leases = new ArrayList<>();
    private final RemoteRegions regions = new RemoteRegions(peer);

    @AfterEach
    void close() {
        regions.close();
        leases.forEach(RegionPool.Lease::release);
        pool.close();
        peer.close();
    }

    private byte[] advertised() {
        leases.add(pool.take(LENGTH));
        return leases.getLast().descriptor();
    }

    @Test
    void shouldKeepARegionForAllMessagesInIt() {
        final byte[] descriptor = advertised();
        final RcRemoteMemory region = regions.of(descriptor);
        final RcRemoteMemory another = regions.of(advertised());
        assertNotSame(region, another);
        assertSame(region, regions.of(descriptor.clone()));
        regions.close();
        assertTrue(region.isClosed() && another.isClosed());
        assertThrows(IllegalStateException.class, () -> regions.of(descriptor));
    }

    @Test
    void shouldCloseTheRegionThatHasNotBeenUsedForLongest() {
        final byte[] first = advertised();
        final RcRemoteMemory used = regions.of(first);
        final RcRemoteMemory unused = regions.of(advertised());
        for (int i = 2; i < RemoteRegions.MOST; i++) {
            regions.of(advertised());
        }
        assertSame(used, regions.of(first));
        assertFalse(unused.isClosed());
        regions.of(advertised());
        assertTrue(unused.isClosed());
        assertFalse(used.isClosed());
        assertTrue(RemoteRegions.MOST > Rendezvous.MAX_LANDINGS, "those being read are used later than the oldest");
    }

    @Test
    void shouldKeepNothingOfAnInvalidDescriptor() {
        assertThrows(RpmaException.class, () -> regions.of(new byte[] {1}));
        assertThrows(RpmaException.class, () -> regions.of(new byte[] {1}));
    }
}
