package io.ringpoll.internal.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A frame to send.
 *
 * @param kind          of {@link FrameKind}
 * @param type          code of the message's type, or 0
 * @param correlationId as {@link FrameHeader#correlationId()}
 * @param message       contained in the frame, or null
 * @param lease         of the memory that contains the message for the peer to read, or null
 * @param messageLength in bytes
 * @param ticket        of the request that the frame answers, or null
 */
record Outgoing(byte kind, byte type, long correlationId, MessageLite message, RegionPool.Lease lease, int messageLength,
    Intake.Ticket ticket) {
    /** Returns the owed credits. */
    static final Outgoing CREDITS = new Outgoing(FrameKind.CREDIT, (byte) 0, 0, null, null, 0, null);
    /** Decodes a proof: a message with its bytes as content. */
    static final Parser<ClientMessageEntryProto> PROOF_PARSER = ClientMessageEntryProto.parser();
    /** Asks whether the peer still works. */
    static final Outgoing PING = new Outgoing(FrameKind.PING, (byte) 0, 0, null, null, 0, null);
    /** Answers a ping. */
    static final Outgoing PONG = new Outgoing(FrameKind.PONG, (byte) 0, 0, null, null, 0, null);

    /**
     * Writes the frame.
     *
     * @param buffer     written from its start
     * @param credits    to return
     * @param advertised number of the region for the peer to read, if any
     * @return the frame's length in bytes
     */
    int write(final ByteBuffer buffer, final int credits, final int advertised) throws IOException {
        final Advertisement advertisement = lease == null ? null : new Advertisement(0, advertised, lease.descriptor());
        final int payload = advertisement != null ? advertisement.lengthBytes() : messageLength;
        new FrameHeader(kind, type, advertisement != null ? FrameHeader.FLAG_RENDEZVOUS : 0, credits, correlationId, payload,
            messageLength).write(buffer);
        if (advertisement != null) {
            advertisement.write(buffer);
        } else if (message != null) {
            final CodedOutputStream out = CodedOutputStream.newInstance(buffer.slice(FrameHeader.LENGTH_BYTES, payload));
            message.writeTo(out);
            out.flush();
        }
        return FrameHeader.LENGTH_BYTES + payload;
    }

    static Outgoing proof(final byte[] proof) {
        final MessageLite message =
            ClientMessageEntryProto.newBuilder().setContent(UnsafeByteOperations.unsafeWrap(proof)).build();
        return new Outgoing(
            FrameKind.PROOF, MessageType.CLIENT_REQUEST.code(), 0, message, null, message.getSerializedSize(), null);
    }

    static Outgoing release(final int number) {
        return new Outgoing(FrameKind.RELEASE, (byte) 0, number, null, null, 0, null);
    }
}
