package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.mockito.Mockito.mock;

import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FrameTest {
    private static final int MAX_MESSAGE = 1000;

    @Test
    void shouldReadAWrittenHeader() throws Exception {
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

    /** The rest of its buffer belongs to an earlier message. */
    @Test
    void shouldNotWriteAMessageThatIsShorterThanItSays() {
        final MessageLite incomplete = mock(MessageLite.class);
        final Outgoing frame = new Outgoing(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), 1, incomplete, null, 5, null);
        assertThrows(IllegalStateException.class, () -> frame.write(ByteBuffer.allocateDirect(100), 0, 0));
    }

    @Test
    void shouldDecodeFramedAndAdvertisedMessages() throws Exception {
        final RaftClientRequestProto message = Nodes.request(Nodes.random(100));
        final byte[] bytes = message.toByteArray();
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES + bytes.length);
        new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, 7, bytes.length, bytes.length)
            .write(frame);
        frame.put(FrameHeader.LENGTH_BYTES, bytes);
        final Incoming inFrame = Incoming.decode(frame, MAX_MESSAGE);
        assertEquals(message, inFrame.message());
        assertEquals(7, inFrame.header().correlationId());
        final Incoming announced = advertised(bytes.length);
        assertNull(announced.message());
        final Incoming fetched = announced.withMessage(ByteBuffer.allocateDirect(bytes.length).put(0, bytes));
        assertEquals(message, fetched.message());
        assertEquals(announced.header(), fetched.header());
    }

    @Test
    void shouldRejectInvalidFrames() {
        assertRefused("magic number 0x1", frame -> frame.putShort(0, (short) 1));
        assertRefused("version", frame -> frame.put(2, (byte) 2));
        assertRefused("kind", frame -> frame.put(3, (byte) 0));
        assertRefused("kind", frame -> frame.put(3, (byte) 6));
        assertRefused("type", frame -> frame.put(4, (byte) 15));
        for (final int flags : new int[] {3, 4, 127, 128}) {
            assertRefused("flags", frame -> frame.put(5, (byte) flags));
        }
        assertRefused("payload", frame -> frame.putInt(16, 6));
        assertRefused("message of -1", frame -> frame.putInt(20, -1));
        assertRefused("message of 6", frame -> frame.putInt(20, 6));
        assertRefused("the maximum is 1000", frame -> frame.putInt(20, MAX_MESSAGE + 1));
        assertRefused("with a payload", frame -> frame.put(3, FrameKind.CREDIT));
        assertRefused("advertisement", frame -> frame.put(5, FrameHeader.FLAG_RENDEZVOUS));
        assertRefused("invalid CLIENT_REQUEST", frame -> frame.put(24, (byte) 0xFF));
        assertRefused("12 bytes", frame -> frame.limit(12));
    }

    private static void assertRefused(final String reason, final Consumer<ByteBuffer> damage) {
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES + 5);
        new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, 1, 5, 5).write(frame);
        // An empty first field of 3 bytes: a complete message.
        frame.put(24, RaftClientRequestProto.newBuilder().setMessage(
            org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto.newBuilder().setContent(
                org.apache.ratis.thirdparty.com.google.protobuf.ByteString.copyFromUtf8("x"))).build().toByteArray());
        damage.accept(frame);
        final ProtocolException refusal = assertThrows(ProtocolException.class, () -> Incoming.decode(frame, MAX_MESSAGE));
        assertTrue(refusal.getMessage().contains(reason), refusal.getMessage());
    }

    @Test
    void shouldRejectAPayloadShorterThanTheFrame() {
        assertRefused("of 4 bytes in a frame with 5", frame -> frame.putInt(16, 4).putInt(20, 4));
        assertRefused("of 0 bytes in a frame with 5", frame -> frame.putInt(16, 0).putInt(20, 0));
        assertRefused("of -1 bytes in a frame with 5", frame -> frame.putInt(16, -1).putInt(20, -1));
    }

    @Test
    void shouldRejectBytesAfterAMessage() {
        // The end of a group that was not started: the parser stops there.
        assertRefused("after a message", frame -> frame.put(24, (byte) 0x0C));
    }

    @Test
    void shouldRejectAnAdvertisedMessageOfInvalidLength() throws Exception {
        assertEquals(MAX_MESSAGE, advertised(MAX_MESSAGE).header().messageLength());
        assertEquals(0, advertised(0).header().messageLength());
        for (final int length : new int[] {-1, Integer.MIN_VALUE, MAX_MESSAGE + 1, Integer.MAX_VALUE}) {
            final ProtocolException refusal = assertThrows(ProtocolException.class, () -> advertised(length));
            assertTrue(refusal.getMessage().contains("a message of " + length + " bytes"), refusal.getMessage());
        }
    }

    private static Incoming advertised(final int messageLength) throws ProtocolException {
        final Advertisement advertisement = new Advertisement(0, 1, new byte[1]);
        return Incoming.decode(frame(messageLength, advertisement.lengthBytes(), advertisement), MAX_MESSAGE);
    }

    private static ByteBuffer frame(final int messageLength, final int payloadLength, final Advertisement advertisement) {
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES + payloadLength + 100);
        new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), FrameHeader.FLAG_RENDEZVOUS, 0, 1, payloadLength,
            messageLength).write(frame);
        advertisement.write(frame);
        return frame.limit(FrameHeader.LENGTH_BYTES + payloadLength);
    }

    @Test
    void shouldRejectAnAdvertisementWithADescriptorOfWrongLength() {
        final Advertisement advertisement = new Advertisement(0, 1, new byte[20]);
        for (final int payloadLength : new int[] {0, 13, 14, 33, 35}) {
            final ByteBuffer frame = frame(10, payloadLength, advertisement);
            assertThrows(ProtocolException.class, () -> Incoming.decode(frame, MAX_MESSAGE), "payload of " + payloadLength);
        }
        final ByteBuffer empty = frame(10, 14, new Advertisement(0, 1, new byte[0]));
        assertThrows(ProtocolException.class, () -> Incoming.decode(empty, MAX_MESSAGE));
    }

    @Test
    void shouldRejectALengthOrFlagsWithoutMessage() throws Exception {
        for (final byte kind : new byte[] {FrameKind.CREDIT, FrameKind.RELEASE, FrameKind.PING, FrameKind.PONG}) {
            assertEquals(kind, withoutMessage(kind, (byte) 0, 0).header().kind());
            assertThrows(ProtocolException.class, () -> withoutMessage(kind, FrameHeader.FLAG_RENDEZVOUS, 0));
            assertThrows(ProtocolException.class, () -> withoutMessage(kind, (byte) 0, 1));
            assertThrows(ProtocolException.class, () -> withoutMessage(kind, (byte) 0, -1));
        }
        for (final byte kind : new byte[] {Byte.MIN_VALUE, 0, FrameKind.PROOF + 1, Byte.MAX_VALUE}) {
            assertThrows(ProtocolException.class, () -> withoutMessage(kind, (byte) 0, 0));
        }
    }

    private static Incoming withoutMessage(final byte kind, final byte flags, final int messageLength) throws ProtocolException {
        final ByteBuffer frame = ByteBuffer.allocateDirect(FrameHeader.LENGTH_BYTES);
        new FrameHeader(kind, (byte) 0, flags, 0, 1, 0, messageLength).write(frame);
        return Incoming.decode(frame, MAX_MESSAGE);
    }

    @Test
    void shouldMapMessageTypesToCodes() throws Exception {
        for (final MessageType type : MessageType.values()) {
            assertEquals(type, MessageType.of(type.code()));
        }
        for (final int code : new int[] {Byte.MIN_VALUE, -1, 0, MessageType.values().length + 1, Byte.MAX_VALUE}) {
            assertThrows(ProtocolException.class, () -> MessageType.of((byte) code));
        }
    }

    @Test
    void shouldRejectForeignPrivateData() throws Exception {
        final Hello hello = new Hello(65_535, 1 << 20);
        assertEquals(hello, Hello.of(java.util.Arrays.copyOf(hello.bytes(), 56)));
        assertThrows(ProtocolException.class, () -> Hello.of(new byte[0]));
        assertThrows(ProtocolException.class, () -> Hello.of(new byte[56]));
        final byte[] newer = hello.bytes();
        newer[4]++;
        final String refusal = assertThrows(ProtocolException.class, () -> Hello.of(newer)).getMessage();
        assertTrue(refusal.contains("has version " + Hello.VERSION), refusal);
        assertThrows(ProtocolException.class, () -> Hello.of(new Hello(0, 4096).bytes()));
        assertThrows(ProtocolException.class, () -> Hello.of(new Hello(1, NodeConfig.MIN_BUFFER_BYTES - 1).bytes()));
        final Hello least = new Hello(1, NodeConfig.MIN_BUFFER_BYTES);
        assertEquals(least, Hello.of(least.bytes()));
    }
}
