package io.ringpoll.internal.transport;

import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * The frames to one peer: posts them, and queues those for which the peer has granted no credit or no send buffer is free. Frames
 * are posted in the order in which they were added, except for urgent ones, which have a queue and credits of their own: votes,
 * heartbeats, their replies, and releases of memory for which there is no other credit.
 * Requests are not added while as many bytes wait as the bounds allow; the number of replies is bounded by the peer's unanswered
 * requests.
 *
 * <p>Guarded by the lock of the link.
 */
final class OutboundQueue {
    /** Buffers reserved for frames that return credits, so that waiting frames cannot block them. */
    private static final int CONTROL_BUFFERS = NodeConfig.CONTROL_FRAMES;
    /** Buffers that waiting frames leave to urgent ones. */
    private static final int RESERVED_BUFFERS = CONTROL_BUFFERS + NodeConfig.URGENT_FRAMES;

    private final Node node;
    private final PeerCounters peer;
    private final RcConnection connection;
    private final MessageBuffers memory;
    private final SendRing sends;
    private final Credits credits;
    private final Rendezvous rendezvous;
    private final Credits urgentCredits;
    private final ArrayDeque<Outgoing> waitingUrgent = new ArrayDeque<>();
    private final ArrayDeque<Outgoing> waiting = new ArrayDeque<>();
    /** Number of waiting frames whose message this node has not written yet. */
    private int unwritten;
    /** Length of the messages that wait to be sent. */
    private long waitingBytes;
    private int peerBufferBytes;
    private int peerMaxMessageBytes;
    /** Whether a ping of the peer is unanswered. */
    private boolean pongDue;

    /** Creates the queue of a link that has its connection, buffers and rendezvous. */
    OutboundQueue(final Link link, final Node node, final Credits credits, final Credits urgentCredits) {
        this.node = node;
        peer = link.peer();
        this.credits = credits;
        this.urgentCredits = urgentCredits;
        connection = link.connection();
        memory = link.memory();
        sends = link.sends();
        rendezvous = link.rendezvous();
    }

    /** Takes the limits of the peer from its hello. */
    void begin(final Hello hello) {
        credits.beginOwn(hello.credits());
        urgentCredits.beginOwn(NodeConfig.URGENT_CREDITS);
        peerBufferBytes = hello.bufferBytes();
        peerMaxMessageBytes = hello.maxMessageBytes();
    }

    /** Longest message in a frame. */
    int frameMessageBytes() {
        return Math.min(peerBufferBytes, node.config().bufferBytes()) - FrameHeader.LENGTH_BYTES;
    }

    /** Longest message that the peer accepts. */
    int peerMaxMessageBytes() {
        return peerMaxMessageBytes;
    }

    /** Whether as many bytes wait as requests may occupy. */
    boolean isFull() {
        return waitingBytes >= node.config().bounds().maxLinkBytes();
    }

    /** Whether as many urgent requests wait as requests are permitted. */
    boolean isUrgentFull() {
        return waitingUrgent.size() >= node.config().bounds().maxLinkRequests();
    }

    /** Posts a frame, or queues it behind the waiting ones. */
    void add(final Outgoing frame) throws IOException {
        if (frame.kind() == FrameKind.RELEASE && (credits.own() == 0 || !waiting.isEmpty())) {
            // The peer may grant no credit before it.
            frame.urgent();
        }
        final ArrayDeque<Outgoing> queue = frame.isUrgent() ? waitingUrgent : waiting;
        if (!queue.isEmpty() || !post(frame)) {
            queue.addLast(frame);
            onWaiting(1, frame.messageLength());
            unwritten += frame.isWritten() ? 0 : 1;
            if (frame.isUrgent() || unwritten == 0) {
                onWaitingForPeer(frame);
            }
            node.counters().increment(Count.SENDS_DELAYED);
        }
    }

    /** Starts the time of a reply that waits for the peer, and not for this node. */
    private static void onWaitingForPeer(final Outgoing frame) {
        if (frame.ticket() != null) {
            frame.ticket().onWaiting();
        }
    }

    /** Starts the time of the replies up to the first frame that this node has not written yet. */
    private void onFewerUnwritten() {
        unwritten--;
        for (final Outgoing frame : waiting) {
            if (!frame.isWritten()) {
                return;
            }
            onWaitingForPeer(frame);
        }
    }

    private void onWaiting(final int frames, final int bytes) {
        waitingBytes += bytes;
        peer.add(Figure.QUEUE_DEPTH, frames);
    }

    /** Posts queued frames as far as credits and buffers permit; called when either have been returned. */
    void postWaiting() throws IOException {
        if (pongDue && postControl(Outgoing.PONG)) {
            pongDue = false;
        }
        postAll(waitingUrgent);
        postAll(waiting);
    }

    private void postAll(final ArrayDeque<Outgoing> queue) throws IOException {
        while (!queue.isEmpty() && post(queue.peekFirst())) {
            onWaiting(-1, -queue.removeFirst().messageLength());
        }
    }

    /** Answers a ping of the peer with the next frames. */
    void onPing() throws ProtocolException {
        if (pongDue) {
            throw new ProtocolException("a ping before the answer to the previous one");
        }
        pongDue = true;
    }

    /** Returns the owed credits, if they are due: a posted frame has returned them, otherwise a credit frame does. */
    void repay() throws IOException {
        // Without a buffer, when one is released.
        repay(urgentCredits, Outgoing.URGENT_CREDITS);
        repay(credits, Outgoing.CREDITS);
    }

    private void repay(final Credits owed, final Outgoing frame) throws IOException {
        if (owed.isHalfOwed() && postControl(frame)) {
            node.counters().increment(Count.CREDIT_FRAMES_SENT);
        }
    }

    /** Posts a frame that costs no credit before the waiting ones; returns false if there is no room. */
    boolean postControl(final Outgoing frame) throws IOException {
        return sends.free() > 0 && postFrame(frame);
    }

    private boolean post(final Outgoing frame) throws IOException {
        final Credits own = frame.isUrgent() ? urgentCredits : credits;
        if (!frame.isWritten() || own.own() == 0 ||
            sends.free() <= (frame.isUrgent() ? CONTROL_BUFFERS : RESERVED_BUFFERS) || !postFrame(frame)) {
            return false;
        }
        own.spend(1);
        return true;
    }

    private boolean postFrame(final Outgoing frame) throws IOException {
        final int offset = sends.nextOffset();
        final long id = sends.nextId();
        final ByteBuffer buffer = memory.slice(offset, node.config().bufferBytes());
        final int advertised = frame.lease() == null ? Rendezvous.NO_REGION : rendezvous.advertise(frame.lease(), frame.ticket());
        boolean posted = false;
        try {
            final int length = frame.isUrgent() ? frame.writeUrgent(buffer, urgentCredits.owed()) :
                frame.write(buffer, credits.owed(), advertised);
            posted = connection.send(memory.region(), offset, length, sends.isSignaled(id), id);
        } finally {
            if (!posted && frame.lease() != null) {
                rendezvous.withdraw(advertised);
            }
        }
        if (posted) {
            sends.onPosted(id);
            (frame.isUrgent() ? urgentCredits : credits).onReturned();
            if (frame.ticket() != null) {
                onReplied(frame);
            }
            if (frame.lease() != null) {
                // Until the peer has read it.
                peer.add(Figure.REGISTERED_BYTES, frame.lease().capacityBytes());
                node.counters().increment(Count.RENDEZVOUS_SENT);
            }
            node.counters().increment(FrameKind.isKeepalive(frame.kind()) ? Count.KEEPALIVES_SENT : Count.FRAMES_SENT);
        }
        return posted;
    }

    /** A reply in registered memory counts, with all of that, until the peer has read it. */
    private static void onReplied(final Outgoing reply) {
        if (reply.lease() == null) {
            reply.ticket().end();
        } else {
            reply.ticket().reply(reply.lease().capacityBytes());
            reply.ticket().onWaiting();
        }
    }

    /** Adds the memory of a message that waits for it. */
    void written(final Outgoing frame, final RegionPool.Lease lease) {
        frame.written(lease);
        onFewerUnwritten();
    }

    /** Removes the frame of a message that could not be written; the message waits. */
    void remove(final Outgoing frame) {
        waiting.remove(frame);
        onWaiting(-1, -frame.messageLength());
        onFewerUnwritten();
    }

    /** Removes the waiting frames at the end of the connection; their memory is the caller's to release. */
    List<Outgoing> removeAll() {
        final List<Outgoing> unsent = new ArrayList<>();
        waiting.addAll(waitingUrgent);
        waitingUrgent.clear();
        for (Outgoing frame = waiting.pollFirst(); frame != null; frame = waiting.pollFirst()) {
            unsent.add(frame);
            onWaiting(-1, -frame.messageLength());
            if (frame.ticket() != null) {
                frame.ticket().end();
            }
        }
        return unsent;
    }
}
