package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, unit = TimeUnit.SECONDS)
class SlotsTest {
    /** Of five slots, clients may have three. */
    private final Slots slots = new Slots(new NodeConfig("slots", Nodes.BUFFER_BYTES, Nodes.CREDITS, 5, 1 << 20, 0, 30_000,
        Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false).with(PeerBounds.DEFAULT.withReserved(2)));

    private void assertTaken(final PeerRole role, final int times) {
        for (int i = 0; i < times; i++) {
            assertTrue(slots.take(role), slots.shortage());
        }
    }

    /** A leader of three servers has four connections with the others. */
    @Test
    void shouldNotTakeSlotsFromClientsForServersThatUseReservedOnes() {
        assertTaken(PeerRole.SERVER, 2);
        assertTaken(PeerRole.CLIENT, 3);
        assertFalse(slots.take(PeerRole.CLIENT));
        assertFalse(slots.take(PeerRole.SERVER));
        assertEquals("there are 5 connections already, 3 of them of clients, which may have 3 (raft.rdma.connections.max, " +
            "raft.rdma.connections.reserved)", slots.shortage());
        slots.release(PeerRole.CLIENT);
        assertTaken(PeerRole.CLIENT, 1);
        slots.release(PeerRole.SERVER);
        assertFalse(slots.hasRoom(PeerRole.CLIENT));
        assertTaken(PeerRole.SERVER, 1);
    }

    @Test
    void shouldLetServersHaveMoreThanTheReservedSlots() {
        assertTaken(PeerRole.SERVER, 4);
        assertTaken(PeerRole.CLIENT, 1);
        assertFalse(slots.hasRoom(PeerRole.CLIENT));
        assertFalse(slots.hasRoom(PeerRole.SERVER));
        slots.release(PeerRole.SERVER);
        assertTaken(PeerRole.CLIENT, 1);
    }
}
