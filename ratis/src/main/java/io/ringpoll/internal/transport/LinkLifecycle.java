package io.ringpoll.internal.transport;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;

/**
 * The life cycle of one connection for the engine, from its request to its end. The connection itself belongs to the
 * {@link ConnectionKeeper}.
 * <pre>
 *   UNPROVEN --proof of the secret--&gt; OPEN --&gt; ENDED
 *       `------------------------------------------^
 * </pre>
 *
 * <p>A connection without a secret starts as OPEN. Guarded by the lock of the link.
 */
final class LinkLifecycle {
    private final String peer;
    private final PeerBounds bounds;
    private final Handshake handshake;
    private final Liveness liveness;
    private final CompletableFuture<Link> established = new CompletableFuture<>();
    private State state;
    private PeerRole peerRole;
    /** Null until the end. */
    private IOException endReason;

    /** The state of a connection. */
    private enum State {
        /** The peer must prove the secret with its first frame. */
        UNPROVEN,
        /** Frames are exchanged. */
        OPEN,
        /** Nothing is sent or delivered any more. */
        ENDED
    }

    LinkLifecycle(final String peer, final PeerBounds bounds, final Handshake handshake) {
        this.peer = peer;
        this.bounds = bounds;
        this.handshake = handshake;
        liveness = new Liveness(bounds, System.nanoTime());
        state = handshake.expected() == null ? State.OPEN : State.UNPROVEN;
    }

    /** Completes when the connection is established, or exceptionally when it cannot be. */
    CompletableFuture<Link> established() {
        return established;
    }

    /** Takes the role of the peer from its hello. */
    void begin(final Hello hello) {
        peerRole = hello.role();
    }

    /** The role that the peer claims; null before its hello. */
    PeerRole peerRole() {
        return peerRole;
    }

    boolean isEnded() {
        return state == State.ENDED;
    }

    /** Whether the peer has not proven the secret that this side asks for. */
    boolean isUnproven() {
        return state == State.UNPROVEN;
    }

    void requireOpen() throws AlreadyClosedException {
        if (isEnded()) {
            throw new AlreadyClosedException("connection to " + peer + " is closed: " + endReason.getMessage(), endReason);
        }
    }

    /** Ends the connection; returns false if it has ended before. */
    boolean end(final IOException reason) {
        if (isEnded()) {
            return false;
        }
        state = State.ENDED;
        endReason = reason;
        return true;
    }

    /** Checks the rights of a frame before its message is read or delivered; returns true if it has only been a proof. */
    boolean isProof(final Incoming frame) throws ProtocolException {
        final FrameHeader header = frame.header();
        if (peerRole == null && FrameKind.hasMessage(header.kind())) {
            // It has not proven the secret either: the proof of an accepting peer is in its hello.
            throw new ProtocolException("a message before its hello has been processed");
        }
        if (!isUnproven()) {
            if (header.kind() == FrameKind.PROOF) {
                throw new ProtocolException("a proof that was not asked for");
            }
            if (header.kind() == FrameKind.REQUEST && peerRole != PeerRole.SERVER &&
                MessageType.of(header.type()).isOfServers()) {
                throw new ProtocolException("a request " + MessageType.of(header.type()) + ", which only servers may send");
            }
            return false;
        }
        if (header.kind() != FrameKind.PROOF || frame.message() == null || !Handshake.isEqual(
            ((ClientMessageEntryProto) frame.message()).getContent().toByteArray(), handshake.expected())) {
            throw new ProtocolException("no valid proof of the secret (raft.rdma.secret.file)");
        }
        state = State.OPEN;
        return true;
    }

    /** Records a frame of the peer. */
    void onSignOfLife(final byte kind) {
        liveness.onFrame(kind);
    }

    /** Records a posted ping. */
    void onPing() {
        liveness.onPing();
    }

    /** Adds the time since the previous tick. */
    Liveness.Verdict tick(final long nowNs) {
        return liveness.tick(nowNs);
    }

    /** The failure of a peer that is considered lost. */
    PeerLostException lost() {
        return new PeerLostException(peer + " has sent nothing for " + bounds.keepaliveTimeoutMs() +
            " ms, nor answered a ping (raft.rdma.keepalive.timeout)");
    }

    /** The failure of a peer that does not read its replies. */
    UnreadReplyException unread() {
        return new UnreadReplyException(peer + " has not read a reply for " + bounds.replyTimeoutMs() +
            " ms (raft.rdma.reply.timeout)");
    }
}
