package io.ringpoll.internal.transport;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.connections.WorkRequestId;
import io.ringpoll.internal.pipeline.PolledQueue;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A connection to a peer, for requests and replies in both directions.
 * <pre>
 *   request -&gt; {@link Correlation} -&gt; {@link MessageSender} -&gt; {@link OutboundQueue} -&gt; peer
 *   engine  &lt;- {@link Correlation} &lt;- {@link InboundDelivery} &lt;------------------ peer
 * </pre>
 *
 * <p>Messages are delivered in the order in which the peer has sent them. The end of the connection drops those that wait: the
 * delivered messages are always the first ones that the peer has sent. Only votes and heartbeats overtake the others.
 *
 * <p>Every frame except a credit frame costs a credit; without credits, frames wait. No method blocks. Thread-safe: the lock of
 * this object guards all parts, and is never held during calls of user code.
 *
 * <p>Memory, ids and the loop of events are those of module {@code connections}. It is no {@code MessageConnection}, which
 * belongs to its polling thread: here any thread sends without a hand-off, votes and heartbeats have credits of their own, and a
 * credit returns when there is memory for the next message, not when a callback has returned.
 */
public final class Link {
    private final Node node;
    private final long number;
    private final String name;
    private final RcConnection connection;
    private final CompletionQueue polled;
    private final Handshake handshake;
    private final MessageBuffers memory;
    private final SendRing sends;
    private final PeerCounters peer;
    private final Rendezvous rendezvous;
    private final LinkLifecycle lifecycle;
    private final OutboundQueue outbound;
    private final InboundDelivery inbound;
    private final Correlation correlation;
    private final Executor longMessages;
    private volatile boolean requestedHere;
    /** Whether it occupies one of the node's slots, until it is released. */
    private boolean hasSlot;

    Link(final Node node, final long number, final String name, final RcConnection connection,
        final Handshake handshake, final MessageBuffers memory, final PeerCounters peer) {
        this.node = node;
        this.number = number;
        this.name = name;
        this.connection = connection;
        polled = PolledQueue.of(connection);
        this.handshake = handshake;
        hasSlot = handshake.expected() == null;
        this.memory = memory;
        sends = new SendRing(memory, node.config().signalInterval());
        this.peer = peer;
        rendezvous = new Rendezvous(this, node, connection);
        lifecycle = new LinkLifecycle(name, node.config().bounds(), handshake);
        final Credits credits = new Credits();
        credits.begin(node.config().credits(), 0);
        final Credits urgentCredits = new Credits();
        urgentCredits.begin(NodeConfig.URGENT_CREDITS, 0);
        outbound = new OutboundQueue(this, node, credits, urgentCredits);
        inbound = new InboundDelivery(this, node, credits, urgentCredits);
        correlation = new Correlation(this, node, new MessageSender(this, node, outbound));
        longMessages = node.longMessages().inOrder();
    }

    /**
     * The name of the peer, for messages.
     *
     * @return the name
     */
    public String name() {
        return name;
    }

    /**
     * Whether requests can still be sent.
     *
     * @return false after a failure or the close of the connection
     */
    public synchronized boolean isOpen() {
        return !lifecycle.isEnded();
    }

    long number() {
        return number;
    }

    /** Marks the connection as requested by this side. */
    void requestedHere() {
        requestedHere = true;
    }

    boolean isOutbound() {
        return requestedHere;
    }

    RcConnection connection() {
        return connection;
    }

    /** The connection's queue as the poller needs it: with events, so that it can sleep. The same at each call. */
    CompletionQueue polled() {
        return polled;
    }

    Node node() {
        return node;
    }

    MessageBuffers memory() {
        return memory;
    }

    SendRing sends() {
        return sends;
    }

    Rendezvous rendezvous() {
        return rendezvous;
    }

    /** The counters of its peer. */
    PeerCounters peer() {
        return peer;
    }

    OutboundQueue outbound() {
        return outbound;
    }

    /** Completes when the connection is established, or exceptionally when it cannot be. */
    CompletableFuture<Link> established() {
        return lifecycle.established();
    }

    /**
     * Processes the hello of the accepting peer, and proves the secret to it.
     *
     * @throws ProtocolException if the peer has not proven the secret
     */
    void greet(final Hello hello) throws IOException {
        final byte[] proof = handshake.check(hello);
        synchronized (this) {
            greeted(hello);
            if (proof != null && !outbound.postControl(Outgoing.proof(proof))) {
                throw new IOException("no room for the proof of the secret");
            }
        }
    }

    /** Takes the limits of the peer from its hello. */
    synchronized void greeted(final Hello hello) {
        outbound.begin(hello);
        lifecycle.begin(hello);
    }

    /** Whether the peer occupies one of the node's slots; without one, it has not proven the secret. */
    synchronized boolean hasSlot() {
        return hasSlot;
    }

    /** The role of the peer; of one to which this side has connected, that of a server. */
    synchronized PeerRole role() {
        return requestedHere ? PeerRole.SERVER : lifecycle.peerRole();
    }

    /** Ends the connection of a peer that has not proven the secret in time; called by the keeper. */
    void checkProof() {
        synchronized (this) {
            if (!lifecycle.isUnproven()) {
                return;
            }
        }
        fail(new ProtocolException("no proof of the secret (raft.rdma.secret.file)"));
    }

    /**
     * Ends the connection of a peer that has not proven the secret yet; called by the keeper. Returns false if it has a slot by
     * now: then it goes on, or a {@link ConnectionKeeper#drop} has been submitted.
     */
    boolean endUnproven() {
        if (hasSlot()) {
            return false;
        }
        fail(new ProtocolException("no proof of the secret (raft.rdma.secret.file)"));
        return !hasSlot();
    }

    /** Takes a slot for a peer that has proven the secret; called with the lock held. */
    private void takeSlot() throws NoSlotException {
        hasSlot = node.slots().take(lifecycle.peerRole());
        if (!hasSlot) {
            throw new NoSlotException(name + " is rejected: " + node.slots().shortage());
        }
    }

    /**
     * Sends a request.
     *
     * @param type    of the request
     * @param request of the type's class
     * @return completes on a handler's thread, so dependent actions must not block: with the reply, of the type's class, or with
     *     an {@link IOException}, which is the peer's exception or the reason for the end of the connection
     */
    public Reply request(final MessageType type, final MessageLite request) {
        return request(type, request, Reply.NO_TIMEOUT);
    }

    /**
     * Sends a request with a time-out.
     *
     * @param type      of the request
     * @param request   of the type's class
     * @param timeoutNs after which the reply completes with a {@link TimeoutException}, up to 0.1 s late: time-outs are checked
     *     periodically, because a timer per request would have to be woken
     * @return as {@link #request(MessageType, MessageLite)}
     */
    public Reply request(final MessageType type, final MessageLite request, final long timeoutNs) {
        return correlation.request(type, request, timeoutNs);
    }

    /** Fails the requests that have timed out; called periodically by the keeper. */
    void expire(final long nowNs) {
        correlation.expire(nowNs);
    }

    /**
     * Asks a silent peer for a sign of life, and ends the connection without one, or if a reply has waited for the peer for too
     * long; called periodically by the keeper.
     */
    void checkPeer(final long nowNs) {
        final IOException failure;
        synchronized (this) {
            if (lifecycle.isEnded()) {
                return;
            }
            failure = inbound.hasOverdueReply(nowNs) ? lifecycle.unread() : checkSilence(nowNs);
        }
        if (failure != null) {
            fail(failure);
        }
    }

    private IOException checkSilence(final long nowNs) {
        return switch (lifecycle.tick(nowNs)) {
            case LOST -> lifecycle.lost();
            case PING -> ping();
            case ALIVE -> null;
        };
    }

    private IOException ping() {
        try {
            if (outbound.postControl(Outgoing.PING)) {
                lifecycle.onPing();
            }
            return null;
        } catch (final IOException | RdmaException | IllegalStateException e) {
            return cannotSend(e);
        }
    }

    private IOException cannotSend(final Exception failure) {
        return new IOException("cannot send to " + name, failure);
    }

    /** Drops the reply to a request when it is received. */
    void cancel(final long correlationId) {
        correlation.cancel(correlationId);
    }

    /** Sends a frame, or queues it. */
    void enqueue(final Outgoing frame) throws IOException {
        IOException failure = null;
        synchronized (this) {
            lifecycle.requireOpen();
            try {
                outbound.add(frame);
            } catch (final IOException | RdmaException | IllegalStateException e) {
                failure = cannotSend(e);
            }
        }
        if (failure != null) {
            if (frame.lease() != null) {
                frame.lease().release();
            }
            fail(failure);
        }
    }

    /** Runs a task that may take long on a thread of its own, after the earlier ones of this connection. */
    void later(final LongTask task) {
        longMessages.execute(() -> {
            try {
                task.run();
            } catch (final IOException | RuntimeException | Error e) {
                endAfter(e);
            }
        });
    }

    /** Part of the processing of a long message; a failure ends the connection. */
    @FunctionalInterface
    interface LongTask {
        void run() throws IOException;
    }

    /** Posts waiting frames, as far as credits and buffers permit; called with the lock held when either have been returned. */
    void postWaiting() throws IOException {
        outbound.postWaiting();
        rendezvous.postWaiting();
        returnCredits();
    }

    private void returnCredits() throws IOException {
        inbound.releaseCredits(lifecycle.peerRole());
        outbound.repay();
    }

    /**
     * Processes a received frame: posts its receive again, updates the credits and dispatches the content. Called by one thread
     * at a time, in the order of the frames.
     */
    void onReceived(final int buffer, final int lengthBytes) throws IOException {
        if (lengthBytes > node.config().bufferBytes()) {
            throw new ProtocolException("a frame of " + lengthBytes + " bytes");
        }
        // After the end, the memory may be another connection's: the frame is dropped, whatever it is.
        final Incoming frame =
            Incoming.decode(memory.slice(memory.receiveOffset(buffer), lengthBytes), node.config().maxMessageBytes());
        final byte kind = frame.header().kind();
        final boolean waits;
        synchronized (this) {
            if (lifecycle.isEnded()) {
                return;
            }
            // Before the frame is processed: a returned credit represents a posted receive.
            postReceive(buffer);
            lifecycle.onSignOfLife(kind);
            if (kind == FrameKind.PING) {
                outbound.onPing();
            }
            if (lifecycle.isProof(frame)) {
                takeSlot();
                return;
            }
            waits = inbound.hold(frame);
            postWaiting();
        }
        node.counters().increment(Count.FRAMES_RECEIVED);
        if (kind == FrameKind.RELEASE) {
            rendezvous.onReleased(frame.header().correlationId());
        } else if (!waits && frame.message() != null) {
            // Later messages are received by this thread only: none can overtake this one.
            deliver(frame);
        }
    }

    private void postReceive(final int buffer) throws IOException {
        boolean posted = false;
        Exception cause = null;
        try {
            posted = connection.receive(
                memory.region(), memory.receiveOffset(buffer), memory.strideBytes(),
                WorkRequestId.receive(WorkRequestId.UNTAGGED, buffer));
        } catch (final RdmaException | IllegalStateException e) {
            cause = e;
        }
        if (!posted) {
            throw new IOException("cannot receive from " + name, cause);
        }
    }

    /** Called when a long message has been read: notifies the peer, and delivers the messages that wait for no other one. */
    void onLanded(final int advertised, final ReorderBuffer.Place<Incoming> place, final Incoming message) throws IOException {
        Incoming next;
        synchronized (this) {
            if (lifecycle.isEnded()) {
                message.discard();
                return;
            }
            next = inbound.claim(place, message);
        }
        try {
            // It returns the credit as well.
            enqueue(Outgoing.release(advertised));
        } catch (final IOException | RuntimeException failure) {
            if (next != null) {
                next.discard();
            }
            throw failure;
        }
        while (next != null) {
            deliver(next);
            synchronized (this) {
                next = inbound.next();
            }
        }
    }

    private void deliver(final Incoming frame) throws ProtocolException {
        node.counters().add(Count.BYTES_RECEIVED, frame.header().messageLength());
        peer.add(Figure.BYTES_RECEIVED, frame.header().messageLength());
        correlation.deliver(frame);
    }

    /** Counts a request that is delivered; returns null if the connection has ended. */
    synchronized Intake.Ticket begin(final FrameHeader header) {
        return lifecycle.isEnded() ? null : inbound.begin(header, lifecycle.peerRole());
    }

    /** Called when the engine has taken a request. */
    void onTaken() {
        synchronized (this) {
            inbound.onTaken();
        }
        tryReturnCredits();
    }

    /** Returns the credits that wait for room; called when there is some, and periodically by the keeper. */
    void tryReturnCredits() {
        IOException failure = null;
        synchronized (this) {
            if (lifecycle.isEnded()) {
                return;
            }
            try {
                returnCredits();
            } catch (final ProtocolException e) {
                failure = e;
            } catch (final IOException | RuntimeException e) {
                failure = cannotSend(e);
            }
        }
        if (failure != null) {
            fail(failure);
        }
    }

    /** Whether there is room for a message of the peer: requests wait for it, replies do not; called with the lock held. */
    boolean admits(final FrameHeader header) {
        return inbound.admits(header, lifecycle.peerRole());
    }

    /** Called when a send has completed: releases its buffer and those of all earlier sends. */
    void onSent(final long workRequestId) {
        IOException failure = null;
        synchronized (this) {
            sends.onCompleted(workRequestId);
            if (lifecycle.isEnded()) {
                return;
            }
            try {
                postWaiting();
            } catch (final IOException | RdmaException | IllegalStateException e) {
                failure = cannotSend(e);
            }
        }
        if (failure != null) {
            fail(failure);
        }
    }

    /** Ends the connection, whose queue is not polled any more. */
    void onQueueFault(final String fault) {
        node.warn(fault);
        fail(new IOException(fault));
    }

    /**
     * Ends the connection because a frame or a message of the peer could not be processed, so that none is skipped; the calling
     * thread continues with other connections.
     *
     * @param failure logged unless it is a usual one; an {@link Error} is, for instance, too little memory for a long message
     */
    void endAfter(final Throwable failure) {
        if (failure instanceof final IOException reason) {
            fail(reason);
            return;
        }
        node.defect("cannot process a frame from " + name, failure);
        fail(new IOException("cannot process a frame from " + name + ": " + failure, failure));
    }

    /**
     * Ends the connection once; outstanding requests fail.
     *
     * @param reason of their failure
     */
    public void fail(final IOException reason) {
        end(reason);
    }

    /**
     * Ends an established connection that this side has not closed, as {@link #fail}, and logs it, unless a client has left.
     *
     * @param hasFailed whether a work request has failed, so that the end is no choice of the peer
     */
    void lose(final IOException reason, final boolean hasFailed) {
        final boolean isServer = role() == PeerRole.SERVER;
        if (end(reason) && (hasFailed || isServer)) {
            node.lost(this, reason);
        }
    }

    private boolean end(final IOException reason) {
        final List<Reply> orphans;
        final List<Outgoing> unsent;
        synchronized (this) {
            if (!lifecycle.end(reason)) {
                return false;
            }
            orphans = correlation.removeAll();
            unsent = outbound.removeAll();
            inbound.clear();
        }
        for (final Outgoing frame : unsent) {
            if (frame.lease() != null) {
                frame.lease().release();
            }
        }
        if (reason instanceof ProtocolException) {
            node.warnRarely(Count.PROTOCOL_VIOLATIONS, name + " has sent " + reason.getMessage() + ": its connection ends");
        }
        if (reason instanceof NoSlotException) {
            node.warnRarely(Count.CONNECTIONS_REJECTED, reason.getMessage());
        }
        if (reason instanceof PeerLostException) {
            node.warnRarely(Count.PEERS_LOST, reason.getMessage() + ": its connection ends");
        }
        if (reason instanceof UnreadReplyException) {
            node.warnRarely(Count.REPLIES_UNREAD, reason.getMessage() + ": its connection ends");
        }
        node.onEnd(this, reason);
        correlation.onEnd();
        established().completeExceptionally(reason);
        for (final Reply orphan : orphans) {
            orphan.future().completeExceptionally(
                new AlreadyClosedException("connection to " + name + " has ended: " + reason.getMessage(), reason));
        }
        return true;
    }

    @Override
    public String toString() {
        return "link " + number + " to " + name;
    }
}
