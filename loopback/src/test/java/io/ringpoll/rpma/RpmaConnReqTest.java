package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The address of the other side, which librpma has no call for. */
@Tag(TestDevice.TAG)
@Timeout(60)
class RpmaConnReqTest {
    private static final int ID_BYTES = 512;
    private static final int DESTINATION = 160;

    @Test
    void shouldHaveTheAddressFromWhichTheOtherSideConnects() throws Exception {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), "0");
            ConnectionRequest request = peer.request(TestDevice.address(), Integer.toString(endpoint.port()))) {
            assertEquals(Optional.empty(), request.remoteAddress());
            try (Connection client = request.connect();
                ConnectionRequest incoming = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow()) {
                assertEquals(Optional.of(InetAddress.getByName(TestDevice.address())), incoming.remoteAddress());
                incoming.connect().close();
                assertEquals(Optional.of(InetAddress.getByName(TestDevice.address())), incoming.remoteAddress());
                client.disconnect();
            }
        }
    }

    @Test
    void shouldReadNothingFromAStructOfAnotherLayout() throws Exception {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment channel = arena.allocate(8, 8);
            final MemorySegment id = arena.allocate(ID_BYTES, 8);
            final MemorySegment request = arena.allocate(16, 8);
            request.set(ValueLayout.JAVA_LONG, 8, id.address());
            id.set(ValueLayout.JAVA_LONG, 8, channel.address());
            id.set(ValueLayout.JAVA_SHORT, DESTINATION, (short) 2);
            id.asSlice(DESTINATION + 4).copyFrom(MemorySegment.ofArray(new byte[] {10, 0, 0, 7}));
            assertEquals(InetAddress.getByName("10.0.0.7"),
                RpmaConnReq.remoteAddress(request.address(), channel.address()));
            assertNull(RpmaConnReq.remoteAddress(request.address(), 0));
            assertNull(RpmaConnReq.remoteAddress(request.address(), request.address()));
            id.set(ValueLayout.JAVA_SHORT, DESTINATION, (short) 10);
            id.asSlice(DESTINATION + 8).copyFrom(MemorySegment.ofArray(InetAddress.getByName("fd00::7").getAddress()));
            assertEquals(InetAddress.getByName("fd00::7"),
                RpmaConnReq.remoteAddress(request.address(), channel.address()));
            id.set(ValueLayout.JAVA_SHORT, DESTINATION, (short) 27);
            assertNull(RpmaConnReq.remoteAddress(request.address(), channel.address()));
            request.set(ValueLayout.JAVA_LONG, 8, 3);
            assertNull(RpmaConnReq.remoteAddress(request.address(), channel.address()));
        }
    }
}
