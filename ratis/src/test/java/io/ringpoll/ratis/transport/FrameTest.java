package io.ringpoll.ratis.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 10, unit = TimeUnit.SECONDS)
class FrameTest {
    private static final int MAX_MESSAGE = 1000;

    @Test
    void shouldReadWhatWasWritten() throws Exception {
        final FrameHeader header = new FrameHeader(FrameKind.REPLY, MessageType.GROUP_INFO.code(), (byte) 0, 40_000,
            0x1234_5678_9ABCL, 5, 5);
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES + 5);
        header.write(frame);
        assertEquals(header, FrameHeader.read(frame, MAX_MESSAGE));
    }

    @Test
    void shouldReadAnAdvertisement() throws Exception {
        final Advertisement advertisement = new Advertisement(1L << 40, 77, new byte[] {1, 2, 3});
        final FrameHeader header = new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(),
            FrameHeader.FLAG_RENDEZVOUS, 0, 1, advertisement.lengthBytes(), 999);
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES + advertisement.lengthBytes());
        header.write(frame);
        advertisement.write(frame);
        final Advertisement read = Incoming.decode(frame, MAX_MESSAGE).advertisement();
        assertEquals(advertisement.offset(), read.offset());
        assertEquals(advertisement.number(), read.number());
        assertArrayEquals(advertisement.descriptor(), read.descriptor());
    }

    @Test
    void shouldRefuseWhatNoPeerSends() {
        assertRefused("magic", frame -> frame.putShort(0, (short) 1));
        assertRefused("version", frame -> frame.put(2, (byte) 2));
        assertRefused("kind", frame -> frame.put(3, (byte) 0));
        assertRefused("kind", frame -> frame.put(3, (byte) 6));
        assertRefused("type", frame -> frame.put(4, (byte) 14));
        assertRefused("flags", frame -> frame.put(5, (byte) 2));
        assertRefused("payload", frame -> frame.putInt(16, 6));
        assertRefused("message of -1", frame -> frame.putInt(20, -1));
        assertRefused("message of 6", frame -> frame.putInt(20, 6));
        assertRefused("at most", frame -> frame.putInt(20, MAX_MESSAGE + 1));
        assertRefused("with a payload", frame -> frame.put(3, FrameKind.CREDIT));
        assertRefused("advertisement", frame -> frame.put(5, FrameHeader.FLAG_RENDEZVOUS));
        assertRefused("no CLIENT_REQUEST", frame -> frame.put(24, (byte) 0xFF));
        assertRefused("12 bytes", frame -> frame.limit(12));
    }

    private static void assertRefused(final String reason, final Consumer<ByteBuffer> damage) {
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES + 5);
        new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, 1, 5, 5).write(frame);
        // An empty first field of 3 bytes: a message of its own.
        frame.put(24, RaftClientRequestProto.newBuilder().setMessage(
            org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto.newBuilder().setContent(
                org.apache.ratis.thirdparty.com.google.protobuf.ByteString.copyFromUtf8("x"))).build().toByteArray());
        damage.accept(frame);
        final ProtocolException refusal = assertThrows(ProtocolException.class, () -> Incoming.decode(frame, MAX_MESSAGE));
        assertTrue(refusal.getMessage().contains(reason), refusal.getMessage());
    }

    @Test
    void shouldRefusePrivateDataOfSomethingElse() throws Exception {
        final Hello hello = new Hello(65_535, 1 << 20);
        assertEquals(hello, Hello.of(java.util.Arrays.copyOf(hello.bytes(), 56)));
        assertThrows(ProtocolException.class, () -> Hello.of(new byte[0]));
        assertThrows(ProtocolException.class, () -> Hello.of(new byte[56]));
        final byte[] newer = hello.bytes();
        newer[4]++;
        assertTrue(assertThrows(ProtocolException.class, () -> Hello.of(newer)).getMessage().contains("version 2"));
        assertThrows(ProtocolException.class, () -> Hello.of(new Hello(0, 4096).bytes()));
        assertThrows(ProtocolException.class, () -> Hello.of(new Hello(1, 10).bytes()));
    }
}
