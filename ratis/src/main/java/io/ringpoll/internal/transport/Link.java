package io.ringpoll.internal.transport;

import io.ringpoll.internal.transport.TransportCounters.Count;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.RpmaException;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.proto.RaftProtos.ThrowableProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A connection to a peer, for requests and replies in both directions.
 *
 * <p>Messages are delivered in the order in which the peer has sent them, one at a time, whatever their lengths. Those behind a
 * long message that is still being read wait in the {@link ReorderBuffer}. The end of the connection drops them: the delivered
 * messages are always the first ones that the peer has sent.
 *
 * <p>Every frame except a credit frame costs a credit; without credits, frames wait. No method blocks. Thread-safe: the lock
 * guards posting, credits, buffers and outstanding requests, and is never held during calls of user code. The lifecycle of the
 * connection belongs to the {@link ConnectionKeeper}.
 */
public final class Link {
    /** Buffers reserved for frames that return credits, so that waiting frames cannot block them. */
    private static final int CONTROL_BUFFERS = NodeConfig.CONTROL_FRAMES;

    private final Node node;
    private final int number;
    private final String name;
    private final Connection connection;
    private final Handshake handshake;
    private final SendBuffers buffers;
    private final CompletableFuture<Link> established = new CompletableFuture<>();
    private final Rendezvous rendezvous;
    private final RequestHandler requests;

    private final ArrayDeque<Outgoing> waiting = new ArrayDeque<>();
    private final PendingReplies pending = new PendingReplies(this);
    private final Credits credits;
    private final ReorderBuffer<Incoming> inbound;
    private final Liveness liveness;
    private final Intake intake;
    /** Length of the messages that wait to be sent. */
    private long waitingBytes;
    private PeerRole peerRole;
    /** Proof without which the peer is not served; null if none is needed any more. */
    private byte[] expectedProof;
    private int peerBufferBytes;
    private int peerMaxMessageBytes;
    /** Whether a ping of the peer is unanswered. */
    private boolean pongDue;
    private IOException closedBy;
    private volatile int queueIndex = -1;
    private volatile boolean outbound;

    Link(final Node node, final int number, final String name, final Connection connection,
        final Handshake handshake, final SendBuffers buffers) {
        this.node = node;
        this.number = number;
        this.name = name;
        this.connection = connection;
        this.handshake = handshake;
        expectedProof = handshake.expected();
        this.buffers = buffers;
        credits = new Credits(node.config().credits());
        inbound = new ReorderBuffer<>(node.config().credits());
        rendezvous = new Rendezvous(this, node, connection);
        intake = new Intake(node.admission(), node.config().bounds());
        liveness = new Liveness(node.config().bounds(), System.nanoTime());
        requests = node.requests().forConnection();
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
        return closedBy == null;
    }

    int number() {
        return number;
    }

    /** Marks the connection as requested by this side. */
    void outbound() {
        outbound = true;
    }

    boolean isOutbound() {
        return outbound;
    }

    /** Index of its queue in the pipeline; -1 until it is polled. */
    int queueIndex() {
        return queueIndex;
    }

    void queueIndex(final int index) {
        queueIndex = index;
    }

    Connection connection() {
        return connection;
    }

    SendBuffers buffers() {
        return buffers;
    }

    Rendezvous rendezvous() {
        return rendezvous;
    }

    /** Completes when the connection is established, or exceptionally when it cannot be. */
    CompletableFuture<Link> established() {
        return established;
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
            if (proof != null && !postFrame(Outgoing.proof(proof))) {
                throw new IOException("no room for the proof of the secret");
            }
        }
    }

    /** Takes the limits of the peer from its hello. */
    synchronized void greeted(final Hello hello) {
        credits.begin(hello.credits());
        peerBufferBytes = hello.bufferBytes();
        peerMaxMessageBytes = hello.maxMessageBytes();
        peerRole = hello.role();
    }

    /** Ends the connection of a peer that has not proven the secret in time; called periodically by the keeper. */
    void checkProof() {
        synchronized (this) {
            if (expectedProof == null) {
                return;
            }
        }
        fail(new ProtocolException("no proof of the secret (raft.rdma.secret.file)"));
    }

    /** Checks the rights of a frame before its message is read or delivered; returns true if it has only been a proof. */
    private boolean isProof(final Incoming frame) throws ProtocolException {
        final FrameHeader header = frame.header();
        if (expectedProof == null) {
            if (header.kind() == FrameKind.PROOF) {
                throw new ProtocolException("a proof that was not asked for");
            }
            if (header.kind() == FrameKind.REQUEST && peerRole != PeerRole.SERVER &&
                MessageType.of(header.type()).isOfServers()) {
                throw new ProtocolException("a request " + MessageType.of(header.type()) + ", which only servers may send");
            }
            return false;
        }
        if (header.kind() != FrameKind.PROOF || frame.message() == null ||
            !Handshake.isEqual(((ClientMessageEntryProto) frame.message()).getContent().toByteArray(), expectedProof)) {
            throw new ProtocolException("no valid proof of the secret (raft.rdma.secret.file)");
        }
        expectedProof = null;
        return true;
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
        final Reply reply;
        final boolean isFull;
        synchronized (this) {
            reply = pending.add(timeoutNs);
            isFull = pending.size() > node.config().bounds().maxLinkRequests() ||
                waitingBytes >= node.config().bounds().maxLinkBytes();
        }
        try {
            if (isFull) {
                throw new ResourceUnavailableException("too many requests to " + name +
                    " have no reply (raft.rdma.link.requests.max, raft.rdma.link.bytes.max)");
            }
            send(FrameKind.REQUEST, type, reply.correlationId(), request, null);
        } catch (final AlreadyClosedException e) {
            reply.cancel();
            reply.future().completeExceptionally(e);
        } catch (final IOException | RuntimeException | OutOfMemoryError e) {
            reply.cancel();
            reply.future().completeExceptionally(unsent(e, "a request to "));
        }
        return reply;
    }

    /**
     * The failure of a message that was not sent, while the connection remains. A message over a limit will never be sent. Too
     * little memory, or memory that was freed when the node closed, is an error that the engine retries with the same server.
     */
    private IOException unsent(final Throwable failure, final String subject) {
        final IOException reason = failure instanceof final IOException io ? io :
            new ResourceUnavailableException(subject + name + " cannot be sent: " + failure);
        node.unsent(reason);
        return reason;
    }

    /** Fails the requests that have timed out; called periodically by the keeper. */
    void expire(final long nowNs) {
        final List<Reply> overdue;
        synchronized (this) {
            overdue = pending.overdue(nowNs);
        }
        for (final Reply reply : overdue) {
            reply.cancel();
            reply.future().completeExceptionally(new TimeoutException("no reply from " + name));
        }
    }

    /** Asks a silent peer for a sign of life, and ends the connection without one; called periodically by the keeper. */
    void checkPeer(final long nowNs) {
        IOException failure = null;
        synchronized (this) {
            if (closedBy != null) {
                return;
            }
            switch (liveness.tick(nowNs)) {
                case LOST -> failure = new PeerLostException(name + " has sent nothing for " +
                    node.config().bounds().keepaliveTimeoutMs() + " ms, nor answered a ping (raft.rdma.keepalive.timeout)");
                case PING -> failure = ping();
                default -> {
                    return;
                }
            }
        }
        if (failure != null) {
            fail(failure);
        }
    }

    private IOException ping() {
        try {
            if (buffers.available() > 0 && postFrame(Outgoing.PING)) {
                liveness.onPing();
            }
            return null;
        } catch (final IOException | RpmaException | IllegalStateException e) {
            return new IOException("cannot send to " + name, e);
        }
    }

    /** Drops the reply to a request when it is received. */
    synchronized void cancel(final long correlationId) {
        pending.remove(correlationId);
    }

    private void send(final byte kind, final MessageType type, final long correlationId, final MessageLite message,
        final Intake.Ticket ticket) throws IOException {
        final int length = message.getSerializedSize();
        final boolean fits;
        final int peerLimit;
        synchronized (this) {
            fits = length <= Math.min(peerBufferBytes, node.config().bufferBytes()) - FrameHeader.LENGTH_BYTES;
            peerLimit = peerMaxMessageBytes;
        }
        if (length > Math.min(node.config().maxMessageBytes(), peerLimit)) {
            throw tooLong(kind, type, length, peerLimit);
        }
        final RegionPool.Lease lease = fits ? null : node.advertised(message, length);
        boolean taken = false;
        try {
            enqueue(new Outgoing(kind, type.code(), correlationId, fits ? message : null, lease, length, ticket));
            taken = true;
        } finally {
            if (!taken && lease != null) {
                lease.release();
            }
        }
        node.counters().add(Count.BYTES_SENT, length);
    }

    private MessageTooLongException tooLong(final byte kind, final MessageType type, final int length, final int peerLimit) {
        final int limit = Math.min(node.config().maxMessageBytes(), peerLimit);
        final String owner = limit == peerLimit ? name : node.config().name();
        return new MessageTooLongException((kind == FrameKind.REQUEST ? "a request " : "a reply to ") + type + " for " + name +
            " has " + length + " bytes, over the limit of " + limit + " of " + owner + " (raft.rdma.message.size.max)", limit);
    }

    /** Sends a frame, or queues it. */
    void enqueue(final Outgoing frame) throws IOException {
        IOException failure = null;
        synchronized (this) {
            requireOpen();
            try {
                if (!waiting.isEmpty() || !post(frame)) {
                    waiting.addLast(frame);
                    waitingBytes += frame.messageLength();
                    node.counters().increment(Count.SENDS_DELAYED);
                }
            } catch (final IOException | RpmaException | IllegalStateException e) {
                failure = new IOException("cannot send to " + name, e);
            }
        }
        if (failure != null) {
            if (frame.lease() != null) {
                frame.lease().release();
            }
            fail(failure);
        }
    }

    private void requireOpen() throws IOException {
        if (closedBy != null) {
            throw new AlreadyClosedException("connection to " + name + " is closed: " + closedBy.getMessage(), closedBy);
        }
    }

    /** Posts queued frames as far as credits and buffers permit; called with the lock held when either have been returned. */
    private void postWaiting() throws IOException {
        if (pongDue && buffers.available() > 0 && postFrame(Outgoing.PONG)) {
            pongDue = false;
        }
        while (!waiting.isEmpty() && post(waiting.peekFirst())) {
            waitingBytes -= waiting.removeFirst().messageLength();
        }
        rendezvous.postWaiting();
        returnCredits();
    }

    /** Returns the credits of requests that the engine has taken, and reads the messages for which there is room now. */
    private void returnCredits() throws IOException {
        for (int released = intake.release(peerRole); released > 0; released--) {
            credits.owe();
        }
        rendezvous.startNext();
        // A posted frame has returned the owed credits. Otherwise a credit frame does; without a buffer, when one is released.
        if (credits.isRepaymentDue() && buffers.available() > 0 && postFrame(Outgoing.CREDITS)) {
            node.counters().increment(Count.CREDIT_FRAMES_SENT);
        }
    }

    private boolean post(final Outgoing frame) throws IOException {
        if (credits.isSpent() || buffers.available() <= CONTROL_BUFFERS) {
            return false;
        }
        if (!postFrame(frame)) {
            return false;
        }
        credits.spend();
        return true;
    }

    private boolean postFrame(final Outgoing frame) throws IOException {
        final int slot = buffers.take();
        final int advertised = frame.lease() == null ? 0 : rendezvous.advertise(frame.lease());
        final boolean signalled = buffers.isSignalNeeded();
        boolean posted = false;
        try {
            final int length = frame.write(buffers.buffer(slot), credits.owed(), advertised);
            posted = connection.send(buffers.region(), buffers.offset(slot), length,
                signalled ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR,
                WorkRequestId.of(WorkRequestId.SEND, number, slot));
        } finally {
            if (!posted) {
                buffers.release(slot);
                rendezvous.withdraw(advertised);
            }
        }
        if (posted) {
            buffers.onPosted(slot, signalled);
            credits.onRepaid();
            if (frame.ticket() != null) {
                frame.ticket().end();
            }
            if (frame.lease() != null) {
                node.counters().increment(Count.RENDEZVOUS_SENT);
            }
            node.counters().increment(FrameKind.isKeepalive(frame.kind()) ? Count.KEEPALIVES_SENT : Count.FRAMES_SENT);
        }
        return posted;
    }

    /**
     * Processes a frame after its receive buffer has been reposted: updates the credits and dispatches the content. Called by one
     * thread at a time, in the order of the frames.
     */
    void onFrame(final Incoming frame) throws IOException {
        final boolean waits;
        synchronized (this) {
            if (closedBy != null) {
                return;
            }
            onSignOfLife(frame.header().kind());
            if (isProof(frame)) {
                return;
            }
            waits = frame.advertisement() != null || frame.message() != null && !inbound.isIdle();
            // The credit of a request returns when the engine has taken it.
            credits.onFrame(frame.header(), waits || frame.header().kind() == FrameKind.REQUEST);
            if (waits) {
                hold(frame);
            }
            postWaiting();
        }
        node.counters().increment(Count.FRAMES_RECEIVED);
        if (frame.header().kind() == FrameKind.RELEASE) {
            rendezvous.onReleased(frame.header().correlationId());
        } else if (!waits && frame.message() != null) {
            // Later messages are received by this thread only: none can overtake this one.
            deliver(frame);
        }
    }

    private void onSignOfLife(final byte kind) throws ProtocolException {
        liveness.onFrame(kind);
        if (kind == FrameKind.PING) {
            if (pongDue) {
                throw new ProtocolException("a ping before the answer to the previous one");
            }
            pongDue = true;
        }
    }

    private void hold(final Incoming frame) throws IOException {
        final ReorderBuffer.Place<Incoming> place = inbound.reserve();
        if (frame.advertisement() != null) {
            rendezvous.fetch(frame, place);
        } else {
            place.fill(frame);
        }
    }

    /** Called when a long message has been read: notifies the peer, and delivers the messages that wait for no other one. */
    void onLanded(final int advertised, final ReorderBuffer.Place<Incoming> place, final Incoming message) throws IOException {
        Incoming next;
        synchronized (this) {
            place.fill(message);
            next = taken(inbound.claim());
        }
        // It returns the credit as well.
        enqueue(Outgoing.release(advertised));
        while (next != null) {
            deliver(next);
            synchronized (this) {
                next = taken(inbound.next());
            }
        }
    }

    /** Returns the credit of a message that leaves the buffer, and reads another one if it was long; null is permitted. */
    private Incoming taken(final Incoming message) throws IOException {
        if (message != null) {
            if (message.header().kind() != FrameKind.REQUEST) {
                credits.owe();
            }
            if (message.header().isRendezvous()) {
                rendezvous.onDelivery();
            }
            postWaiting();
        }
        return message;
    }

    private void deliver(final Incoming frame) throws ProtocolException {
        final FrameHeader header = frame.header();
        node.counters().add(Count.BYTES_RECEIVED, header.messageLength());
        if (header.kind() == FrameKind.REQUEST) {
            final MessageType type = MessageType.of(header.type());
            final Intake.Ticket ticket;
            synchronized (this) {
                if (closedBy != null) {
                    return;
                }
                ticket = intake.begin(header.messageLength());
            }
            boolean handled = false;
            try {
                requests.handle(type, frame.message(), this::onTaken)
                    .whenComplete((reply, failure) -> answer(type, header.correlationId(), reply, failure, ticket));
                handled = true;
            } finally {
                if (!handled) {
                    end(ticket);
                }
            }
            return;
        }
        final Reply reply;
        synchronized (this) {
            reply = pending.remove(header.correlationId());
        }
        if (reply == null) {
            // The request has timed out or was cancelled.
            return;
        }
        if (header.kind() == FrameKind.REPLY) {
            reply.future().complete(frame.message());
        } else {
            reply.future().completeExceptionally(
                Failures.toException((ThrowableProto) frame.message(), name));
        }
    }

    private void onTaken() {
        synchronized (this) {
            intake.onTaken();
        }
        tryReturnCredits();
    }

    /** Returns the credits that wait for room; called when there is some, and periodically by the keeper. */
    void tryReturnCredits() {
        IOException failure = null;
        synchronized (this) {
            if (closedBy != null) {
                return;
            }
            try {
                returnCredits();
            } catch (final ProtocolException e) {
                failure = e;
            } catch (final IOException | RuntimeException e) {
                failure = new IOException("cannot send to " + name, e);
            }
        }
        if (failure != null) {
            fail(failure);
        }
    }

    /** Whether there is room for a message of the peer: requests wait for it, replies do not. */
    boolean admits(final FrameHeader header) {
        return header.kind() != FrameKind.REQUEST || intake.admits(peerRole);
    }

    private synchronized void end(final Intake.Ticket ticket) {
        ticket.end();
    }

    /** Sends the reply, or the reason for which it cannot be sent. */
    private void answer(final MessageType type, final long correlationId, final MessageLite reply, final Throwable failure,
        final Intake.Ticket ticket) {
        try {
            answerWith(type, correlationId, reply, failure, ticket);
        } finally {
            synchronized (this) {
                if (closedBy != null) {
                    ticket.end();
                }
            }
        }
        tryReturnCredits();
    }

    private void answerWith(final MessageType type, final long correlationId, final MessageLite reply, final Throwable failure,
        final Intake.Ticket ticket) {
        Throwable reason = failure;
        try {
            if (reason == null) {
                send(FrameKind.REPLY, type, correlationId, reply, ticket);
                return;
            }
        } catch (final AlreadyClosedException e) {
            // The connection has ended: nothing can be sent.
            return;
        } catch (final IOException | RuntimeException | OutOfMemoryError e) {
            reason = unsent(e, "a reply to ");
        }
        try {
            send(FrameKind.FAILURE, type, correlationId, Failures.toProto(reason, failureBytes()), ticket);
        } catch (final AlreadyClosedException e) {
            // As above.
            return;
        } catch (final IOException | RuntimeException e) {
            fail(new IOException("cannot reply to " + name + ": " + e.getMessage(), e));
        }
    }

    /** Maximum length of a failure: it fits in a frame, so that it needs no further memory. */
    private synchronized int failureBytes() {
        return Math.min(peerBufferBytes, node.config().bufferBytes()) - FrameHeader.LENGTH_BYTES;
    }

    /** Called when a send has completed: releases its buffer and those of all earlier sends. */
    void onSent(final int slot) {
        IOException failure = null;
        synchronized (this) {
            buffers.onSent(slot);
            if (closedBy != null) {
                return;
            }
            try {
                postWaiting();
            } catch (final IOException | RpmaException | IllegalStateException e) {
                failure = new IOException("cannot send to " + name, e);
            }
        }
        if (failure != null) {
            fail(failure);
        }
    }

    /**
     * Ends the connection because a frame or a message of the peer could not be processed, so that none is skipped. An
     * {@link Error}, such as too little memory for a long message, is thrown again for the log of the handler's thread.
     */
    void endAfter(final Throwable failure) {
        fail(failure instanceof final IOException reason ? reason :
            new IOException("cannot process a frame from " + name + ": " + failure, failure));
        if (failure instanceof final Error error) {
            throw error;
        }
    }

    /**
     * Ends the connection once; outstanding requests fail.
     *
     * @param reason of their failure
     */
    public void fail(final IOException reason) {
        final List<Reply> orphans;
        final List<Outgoing> unsent;
        synchronized (this) {
            if (closedBy != null) {
                return;
            }
            closedBy = reason;
            orphans = pending.removeAll();
            unsent = new ArrayList<>(waiting);
            waiting.clear();
            waitingBytes = 0;
            inbound.clear();
            unsent.stream().map(Outgoing::ticket).filter(Objects::nonNull).forEach(Intake.Ticket::end);
        }
        for (final Outgoing frame : unsent) {
            if (frame.lease() != null) {
                frame.lease().release();
            }
        }
        if (reason instanceof ProtocolException) {
            node.warnRarely(Count.PROTOCOL_VIOLATIONS, name + " has sent " + reason.getMessage() + ": its connection ends");
        }
        if (reason instanceof PeerLostException) {
            node.warnRarely(Count.PEERS_LOST, reason.getMessage() + ": its connection ends");
        }
        node.onEnd(this, reason);
        established.completeExceptionally(reason);
        for (final Reply orphan : orphans) {
            orphan.future().completeExceptionally(
                new AlreadyClosedException("connection to " + name + " has ended: " + reason.getMessage(), reason));
        }
    }

    @Override
    public String toString() {
        return "link " + number + " to " + name;
    }
}
