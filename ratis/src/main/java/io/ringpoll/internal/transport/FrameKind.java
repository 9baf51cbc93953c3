package io.ringpoll.internal.transport;

/** The purpose of a frame; the constants are part of the wire format. */
final class FrameKind {
    /** A request; a reply with the same correlation id follows. */
    static final byte REQUEST = 1;
    /** The reply to a request. */
    static final byte REPLY = 2;
    /** The exception that a request has caused. */
    static final byte FAILURE = 3;
    /** Returns credits only; costs none itself. */
    static final byte CREDIT = 4;
    /** Reports that an advertised region has been read; the correlation id is the region's number. */
    static final byte RELEASE = 5;
    /** Asks whether the peer still works; one at a time, and costs no credit. */
    static final byte PING = 6;
    /** The answer to a ping; costs no credit. */
    static final byte PONG = 7;

    /** The proof of the secret, the first frame of a requesting node; costs no credit. */
    static final byte PROOF = 8;

    private FrameKind() {
    }

    /** Whether frames of this kind cost no credit: the receiver has receives for them that belong to no credit. */
    static boolean isFree(final byte kind) {
        return kind == CREDIT || kind == PROOF || isKeepalive(kind);
    }

    /** Whether frames of this kind only show that a peer works. */
    static boolean isKeepalive(final byte kind) {
        return kind == PING || kind == PONG;
    }

    /** Whether frames of this kind carry a message. */
    static boolean hasMessage(final byte kind) {
        return kind == REQUEST || kind == REPLY || kind == FAILURE || kind == PROOF;
    }
}
