package io.ringpoll.ratis.transport;

/** What a frame is for; the constants are on the wire. */
final class FrameKind {
    /** A request that waits for a reply with the same correlation id. */
    static final byte REQUEST = 1;
    /** The answer to a request. */
    static final byte REPLY = 2;
    /** The exception that a request has ended with. */
    static final byte FAILURE = 3;
    /** Gives credits back and nothing else; the one kind that costs none. */
    static final byte CREDIT = 4;
    /** Says that an advertised region has been read; the correlation id is its number. */
    static final byte RELEASE = 5;

    private FrameKind() {
    }

    /** Whether frames of this kind carry a message. */
    static boolean hasMessage(final byte kind) {
        return kind == REQUEST || kind == REPLY || kind == FAILURE;
    }
}
