package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The port of an endpoint, which librpma has no call for. */
@Tag(TestDevice.TAG)
@Timeout(60)
class RpmaEpTest {
    private static final int FD = 17;

    @Test
    void shouldTakeAFreePortThatTheOtherSideCanConnectTo() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), "0")) {
            final String port = Integer.toString(endpoint.port());
            assertTrue(endpoint.port() > 0 && endpoint.port() <= 65_535, port);
            assertEquals("endpoint " + TestDevice.address() + ":" + port, endpoint.name());
            try (Connection client = peer.request(TestDevice.address(), port).connect();
                Connection server = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow().connect()) {
                assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), client.nextEvent(ConnectedPair.TIMEOUT_MS));
                assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), server.nextEvent(ConnectedPair.TIMEOUT_MS));
            }
        }
    }

    @Test
    void shouldGiveThePortThatWasAskedFor() {
        final String port = ConnectedPair.anyPort();
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), port)) {
            assertEquals(Integer.parseInt(port), endpoint.port());
        }
    }

    @Test
    void shouldRejectAStructThatContradictsThePublicCalls() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment channel = arena.allocate(8, 8);
            final MemorySegment id = arena.allocate(64, 8);
            final MemorySegment rpmaEp = arena.allocate(24, 8);
            channel.set(ValueLayout.JAVA_INT, 0, FD);
            id.set(ValueLayout.JAVA_LONG, 8, channel.address());
            rpmaEp.set(ValueLayout.JAVA_LONG, 8, id.address());
            rpmaEp.set(ValueLayout.JAVA_LONG, 16, channel.address());
            assertEquals(id.address(), RpmaEp.cmId(rpmaEp.address(), FD));
            assertEquals(0, RpmaEp.cmId(rpmaEp.address(), FD + 1));
            id.set(ValueLayout.JAVA_LONG, 8, rpmaEp.address());
            assertEquals(0, RpmaEp.cmId(rpmaEp.address(), FD));
            assertEquals(RpmaEp.NO_PORT, RpmaEp.port(rpmaEp.address(), FD));
        }
    }
}
