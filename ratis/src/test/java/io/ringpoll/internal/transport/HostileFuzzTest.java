package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Random hellos and frames with boundary values, over real connections: they lose their own connection at most. */
@Tag(TestDevice.TAG)
@Timeout(value = 120, unit = TimeUnit.SECONDS)
@ParameterizedClass
@EnumSource
class HostileFuzzTest {
    private static final long SEED = 4711;
    private static final int CASES = 60;
    private static final int[] LENGTHS = {Integer.MIN_VALUE, -1, 0, 1, 14, 100, 5000, Nodes.MAX_MESSAGE_BYTES,
        Nodes.MAX_MESSAGE_BYTES + 1, Integer.MAX_VALUE};
    private static final long[] LONGS = {Long.MIN_VALUE, -1, 0, 1, 8191, 8192, 1L << 32 | 1, Long.MAX_VALUE};
    private static final int[] CREDITS = {0, 0, 0, 1, Nodes.CREDITS, 0x7FFF, 0xFFFF};

    private final Nodes nodes;
    private final Random random = new Random(SEED);
    private Nodes.Server server;
    private Link honest;

    HostileFuzzTest(final RdmaApi api) {
        nodes = new Nodes(api);
    }

    @BeforeEach
    void open() throws Exception {
        server = nodes.server(Nodes::echo);
        honest = Nodes.connect(nodes.client(), server.port());
    }

    @AfterEach
    void close() {
        nodes.close();
    }

    private void assertHonestPeerIsServed() throws Exception {
        Nodes.assertEchoed(honest, Nodes.random(10));
        Nodes.assertEchoed(honest, Nodes.random(5_000));
        assertTrue(honest.isOpen());
    }

    @Test
    void shouldSurviveHellosWithRandomBytes() throws Exception {
        final byte[] valid = new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES, Nodes.MAX_MESSAGE_BYTES, PeerRole.SERVER, "fuzz",
            new byte[Hello.CHALLENGE_BYTES], null).bytes();
        try (Warnings warnings = new Warnings(Node.class)) {
            for (int i = 0; i < CASES; i++) {
                byte[] hello = valid.clone();
                for (int changes = random.nextInt(3); changes >= 0; changes--) {
                    hello[random.nextInt(hello.length)] = (byte) random.nextInt();
                }
                if (random.nextInt(4) == 0) {
                    hello = Arrays.copyOf(hello, 1 + random.nextInt(56));
                }
                try (Peer peer = Peer.ofRemote(TestDevice.address());
                    ConnectionRequest request = peer.request(TestDevice.address(), Integer.toString(server.port()));
                    Connection connection = request.connect(hello)) {
                    final ConnectionEvent event = connection.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow();
                    assertTrue(event == ConnectionEvent.ESTABLISHED || event == ConnectionEvent.REJECTED, event::toString);
                    if (event == ConnectionEvent.ESTABLISHED) {
                        connection.disconnect();
                    }
                }
                if (i % 10 == 0) {
                    assertHonestPeerIsServed();
                }
            }
            assertFalse(warnings.contains("an event of a connection could not be processed"));
        }
        assertHonestPeerIsServed();
    }

    @Test
    void shouldSurviveFramesWithRandomLengthsKeysAndCounts() throws Exception {
        for (int i = 0; i < CASES; i++) {
            final PeerRole role = random.nextBoolean() ? PeerRole.SERVER : PeerRole.CLIENT;
            final Hello hello =
                new Hello(Nodes.CREDITS, Nodes.BUFFER_BYTES, Nodes.MAX_MESSAGE_BYTES, role, "fuzz", null, null);
            try (RawPeer peer = new RawPeer(server.port(), hello);
                LocalMemoryRegion region = peer.peer().allocate(8192, MemoryUsage.READ_SOURCE)) {
                peer.send(frame(region.descriptor()));
                assertHonestPeerIsServed();
            }
        }
    }

    private byte[] frame(final byte[] descriptor) {
        final boolean advertises = random.nextInt(3) == 0;
        final byte[] payload = advertises ? advertisement(descriptor) : new byte[random.nextInt(200)];
        if (!advertises) {
            random.nextBytes(payload);
        }
        final ByteBuffer frame = ByteBuffer.allocate(FrameHeader.LENGTH_BYTES + payload.length);
        new FrameHeader((byte) (random.nextInt(11) - 1), (byte) (random.nextInt(16) - 1),
            (byte) (advertises ? 1 : random.nextInt(8) == 0 ? random.nextInt() : 0), CREDITS[random.nextInt(CREDITS.length)],
            LONGS[random.nextInt(LONGS.length)],
            random.nextInt(4) == 0 ? LENGTHS[random.nextInt(LENGTHS.length)] : payload.length,
            random.nextInt(3) == 0 ? LENGTHS[random.nextInt(LENGTHS.length)] : payload.length).write(frame);
        frame.put(FrameHeader.LENGTH_BYTES, payload);
        return random.nextInt(10) == 0 ? Arrays.copyOf(frame.array(), 1 + random.nextInt(FrameHeader.LENGTH_BYTES - 1)) :
            frame.array();
    }

    /** A region's location with a wrong offset, number, length or key. */
    private byte[] advertisement(final byte[] descriptor) {
        final byte[] changed = descriptor.clone();
        if (random.nextBoolean()) {
            changed[random.nextInt(changed.length)] ^= (byte) (1 << random.nextInt(Byte.SIZE));
        }
        final Advertisement advertisement = new Advertisement(LONGS[random.nextInt(LONGS.length)], random.nextInt(), changed);
        final ByteBuffer frame = ByteBuffer.allocate(Nodes.BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        advertisement.write(frame);
        final byte[] payload = new byte[advertisement.lengthBytes()];
        frame.get(FrameHeader.LENGTH_BYTES, payload);
        return payload;
    }
}
