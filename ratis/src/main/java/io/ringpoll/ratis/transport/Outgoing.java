package io.ringpoll.ratis.transport;

import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A frame that is to be sent, or waits until it may be.
 *
 * @param kind          of {@link FrameKind}
 * @param type          code of the message's type, or 0
 * @param correlationId as {@link FrameHeader#correlationId()}
 * @param message       in the frame, or null
 * @param lease         holds the message if the peer is to read it, or null
 * @param messageLength in bytes
 */
record Outgoing(byte kind, byte type, long correlationId, MessageLite message, RegionPool.Lease lease, int messageLength) {
    /** Gives back the credits that are owed. */
    static final Outgoing CREDITS = new Outgoing(FrameKind.CREDIT, (byte) 0, 0, null, null, 0);

    static Outgoing release(final int number) {
        return new Outgoing(FrameKind.RELEASE, (byte) 0, number, null, null, 0);
    }
}
