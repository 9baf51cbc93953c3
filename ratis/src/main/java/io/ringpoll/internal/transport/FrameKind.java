package io.ringpoll.internal.transport;

/** The purpose of a frame; the constants are part of the wire format. */
final class FrameKind {
    /** A request; a reply with the same correlation id follows. */
    static final byte REQUEST = 1;
    /** The reply to a request. */
    static final byte REPLY = 2;
    /** The exception that a request has caused. */
    static final byte FAILURE = 3;
    /** Returns credits only; the only kind that costs none. */
    static final byte CREDIT = 4;
    /** Reports that an advertised region has been read; the correlation id is the region's number. */
    static final byte RELEASE = 5;

    private FrameKind() {
    }

    /** Whether frames of this kind carry a message. */
    static boolean hasMessage(final byte kind) {
        return kind == REQUEST || kind == REPLY || kind == FAILURE;
    }
}
