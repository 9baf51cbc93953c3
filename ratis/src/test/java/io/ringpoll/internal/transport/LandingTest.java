package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LandingTest {
    private static final int LENGTH = 1000;

    @Test
    void shouldCloseThePeersRegionIfThereIsNoMemoryForTheMessage() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            RegionPool source = new RegionPool(peer, Runnable::run, 1 << 20, MemoryUsage.READ_SOURCE);
            RegionPool pool = new RegionPool(peer, Runnable::run, 1 << 20, MemoryUsage.READ_DESTINATION)) {
            final RegionPool.Lease advertised = source.take(LENGTH);
            final Incoming frame = new Incoming(
                new FrameHeader(FrameKind.REQUEST, (byte) 0, FrameHeader.FLAG_RENDEZVOUS, 0, 1, 0, LENGTH), null,
                new Advertisement(0, 1, advertised.descriptor()));
            final RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(advertised.descriptor());
            final ReorderBuffer.Place<Incoming> place = new ReorderBuffer<Incoming>(1).reserve();
            final Landing landing = Landing.take(frame, place, pool, remote);
            assertSame(place, landing.place());
            assertFalse(remote.isClosed());
            landing.close();
            assertTrue(remote.isClosed());
            pool.close();
            final RemoteMemoryRegion without = RemoteMemoryRegion.ofDescriptor(advertised.descriptor());
            assertThrows(IllegalStateException.class, () -> Landing.take(frame, place, pool, without));
            assertTrue(without.isClosed());
            advertised.release();
        }
    }
}
