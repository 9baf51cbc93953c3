package io.ringpoll.internal.transport;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.thirdparty.com.google.protobuf.CodedOutputStream;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.thirdparty.com.google.protobuf.Parser;
import org.apache.ratis.thirdparty.com.google.protobuf.UnsafeByteOperations;

/**
 * A frame in the send queue of a link. A long message may be written to registered memory after the frame has been queued; the
 * frames behind it wait meanwhile. Guarded by the lock of the link.
 */
final class Outgoing {
    /** Returns the owed credits. */
    static final Outgoing CREDITS = new Outgoing(FrameKind.CREDIT, (byte) 0, 0, null, null, 0, null);
    /** Returns the owed urgent credits. */
    static final Outgoing URGENT_CREDITS = new Outgoing(FrameKind.CREDIT, (byte) 0, 0, null, null, 0, null).urgent();
    /** Decodes a proof: a message with its bytes as content. */
    static final Parser<ClientMessageEntryProto> PROOF_PARSER = ClientMessageEntryProto.parser();
    /** Asks whether the peer still works. */
    static final Outgoing PING = new Outgoing(FrameKind.PING, (byte) 0, 0, null, null, 0, null);
    /** Answers a ping. */
    static final Outgoing PONG = new Outgoing(FrameKind.PONG, (byte) 0, 0, null, null, 0, null);

    private final byte kind;
    private final byte type;
    private final long correlationId;
    private final MessageLite message;
    private final int messageLength;
    private final Intake.Ticket ticket;
    private RegionPool.Lease lease;
    private boolean unwritten;
    private boolean urgent;

    /**
     * Creates a frame that can be posted.
     *
     * @param kind          of {@link FrameKind}
     * @param type          code of the message's type, or 0
     * @param correlationId as {@link FrameHeader#correlationId()}
     * @param message       contained in the frame, or null
     * @param lease         of the memory that contains the message for the peer to read, or null
     * @param messageLength in bytes
     * @param ticket        of the request that the frame answers, or null
     */
    Outgoing(final byte kind, final byte type, final long correlationId, final MessageLite message, final RegionPool.Lease lease,
        final int messageLength, final Intake.Ticket ticket) {
        this.kind = kind;
        this.type = type;
        this.correlationId = correlationId;
        this.message = message;
        this.lease = lease;
        this.messageLength = messageLength;
        this.ticket = ticket;
    }

    /** Creates a frame for a long message that is not in registered memory yet. */
    static Outgoing unwritten(final byte kind, final byte type, final long correlationId, final MessageLite message,
        final int messageLength, final Intake.Ticket ticket) {
        final Outgoing frame = new Outgoing(kind, type, correlationId, message, null, messageLength, ticket);
        frame.unwritten = true;
        return frame;
    }

    /** Lets the frame overtake those that wait; its message must be contained in it. */
    Outgoing urgent() {
        urgent = true;
        return this;
    }

    boolean isUrgent() {
        return urgent;
    }

    byte kind() {
        return kind;
    }

    long correlationId() {
        return correlationId;
    }

    MessageLite message() {
        return message;
    }

    int messageLength() {
        return messageLength;
    }

    /** Of the request that the frame answers, or null. */
    Intake.Ticket ticket() {
        return ticket;
    }

    /** The memory of the message, or null. */
    RegionPool.Lease lease() {
        return lease;
    }

    /** Whether the message is in the frame or in registered memory, so that the frame can be posted. */
    boolean isWritten() {
        return !unwritten;
    }

    /** Adds the memory that contains the message. */
    void written(final RegionPool.Lease written) {
        lease = written;
        unwritten = false;
    }

    /**
     * Writes the frame.
     *
     * @param buffer     written from its start
     * @param credits    to return
     * @param advertised number of the region for the peer to read, if any
     * @return the frame's length in bytes
     */
    int write(final ByteBuffer buffer, final int credits, final int advertised) throws IOException {
        return write(buffer, credits, advertised, lease == null ? 0 : FrameHeader.FLAG_RENDEZVOUS);
    }

    /** Writes the frame of an urgent message, or of a return of urgent credits. */
    int writeUrgent(final ByteBuffer buffer, final int credits) throws IOException {
        return write(buffer, credits, Rendezvous.NO_REGION, FrameHeader.FLAG_URGENT);
    }

    private int write(final ByteBuffer buffer, final int credits, final int advertised, final byte flags) throws IOException {
        final Advertisement advertisement = lease == null ? null : new Advertisement(0, advertised, lease.descriptor());
        final int payload = advertisement != null ? advertisement.lengthBytes() : messageLength;
        new FrameHeader(kind, type, flags, credits, correlationId, payload, messageLength).write(buffer);
        if (advertisement != null) {
            advertisement.write(buffer);
        } else if (message instanceof final StreamPacket packet) {
            packet.writeTo(buffer.slice(FrameHeader.LENGTH_BYTES, payload));
        } else if (message != null) {
            final CodedOutputStream out = CodedOutputStream.newInstance(buffer.slice(FrameHeader.LENGTH_BYTES, payload));
            message.writeTo(out);
            out.checkNoSpaceLeft();
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
