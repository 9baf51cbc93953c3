package io.ringpoll.internal.transport;

import io.ringpoll.internal.transport.PeerCounters.Figure;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.proto.RaftProtos.ThrowableProto;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * Matches the requests and replies of one connection by their correlation ids: completes the outstanding requests of this side,
 * and answers those of the peer.
 *
 * <p>Thread-safe: takes the lock of the link, and does not hold it during calls of user code.
 */
final class Correlation {
    private final Link link;
    private final Node node;
    private final MessageSender sender;
    private final RequestHandler requests;
    /** Guarded by the lock of the link. */
    private final PendingReplies pending;

    Correlation(final Link link, final Node node, final MessageSender sender) {
        this.link = link;
        this.node = node;
        this.sender = sender;
        requests = node.requests().forConnection();
        pending = new PendingReplies(link);
    }

    /** Sends a request, as {@link Link#request(MessageType, MessageLite, long)}. */
    Reply request(final MessageType type, final MessageLite request, final long timeoutNs) {
        final Reply reply;
        final boolean isFull;
        synchronized (link) {
            reply = pending.add(type, timeoutNs);
            isFull = type.isUrgent(request) ? link.outbound().isUrgentFull() :
                pending.size() > node.config().bounds().maxLinkRequests() || link.outbound().isFull();
        }
        try {
            if (isFull) {
                throw new ResourceUnavailableException("too many requests to " + link.name() +
                    " have no reply (raft.rdma.link.requests.max, raft.rdma.link.bytes.max)");
            }
            sender.send(FrameKind.REQUEST, type, reply.correlationId(), request, null, this::onUnwritten);
            link.peer().increment(Figure.REQUESTS_SENT);
        } catch (final IOException | RuntimeException | OutOfMemoryError e) {
            reply.cancel();
            reply.future().completeExceptionally(
                e instanceof AlreadyClosedException ? e : sender.unsent(e, "a request to "));
        }
        return reply;
    }

    /** Drops the reply to a request when it is received. */
    void cancel(final long correlationId) {
        synchronized (link) {
            pending.remove(correlationId);
        }
    }

    /** Fails the requests that have timed out. */
    void expire(final long nowNs) {
        final List<Reply> overdue;
        synchronized (link) {
            overdue = pending.overdue(nowNs);
        }
        for (final Reply reply : overdue) {
            reply.cancel();
            reply.future().completeExceptionally(new TimeoutException("no reply from " + link.name()));
        }
    }

    /** Notifies the handler of the end of the connection; without the lock. */
    void onEnd() {
        requests.onEnd();
    }

    /** Removes the outstanding requests at the end of the connection; called with the lock held. */
    List<Reply> removeAll() {
        return pending.removeAll();
    }

    /** Serves a request of the peer, or completes one of this side with its reply. */
    void deliver(final Incoming frame) throws ProtocolException {
        final FrameHeader header = frame.header();
        if (header.kind() == FrameKind.REQUEST) {
            serve(frame);
            return;
        }
        final Reply reply;
        synchronized (link) {
            reply = pending.remove(header);
        }
        if (reply == null) {
            // The request has timed out or was cancelled.
            return;
        }
        link.peer().increment(Figure.REPLIES);
        link.peer().add(Figure.LATENCY_NS, System.nanoTime() - reply.sentNs());
        if (header.kind() == FrameKind.REPLY) {
            reply.future().complete(frame.message());
        } else {
            reply.future().completeExceptionally(Failures.toException((ThrowableProto) frame.message(), link.name()));
        }
    }

    private void serve(final Incoming frame) throws ProtocolException {
        final FrameHeader header = frame.header();
        final MessageType type = MessageType.of(header.type());
        final Intake.Ticket ticket = link.begin(header);
        if (ticket == null) {
            frame.discard();
            return;
        }
        link.peer().increment(Figure.REQUESTS_RECEIVED);
        try {
            requests.handle(type, frame.message(), header.isUrgent() ? Correlation::onTakenWithoutCredit : link::onTaken)
                .whenComplete((reply, failure) -> answer(type, header.correlationId(), reply, failure, ticket));
        } catch (final RuntimeException | Error failure) {
            synchronized (link) {
                ticket.end();
            }
            throw failure;
        }
    }

    private static void onTakenWithoutCredit() {
        // The credit of an urgent request does not wait for the engine.
    }

    /**
     * Sends the reply, or the reason for which it cannot be sent. An error ends the connection, whose peer would wait for the
     * reply; nobody else learns of it, because the caller is the future of the reply.
     */
    private void answer(final MessageType type, final long correlationId, final MessageLite reply, final Throwable failure,
        final Intake.Ticket ticket) {
        boolean isAnswered = false;
        try {
            answerWith(type, correlationId, reply, failure, ticket);
            isAnswered = true;
        } catch (final Error e) {
            node.defect("cannot reply to " + link.name(), e);
            link.fail(new IOException("cannot reply to " + link.name() + ": " + e, e));
        } finally {
            synchronized (link) {
                if (!isAnswered || !link.isOpen()) {
                    ticket.end();
                }
            }
        }
        link.tryReturnCredits();
    }

    private void onUnwritten(final Outgoing frame, final MessageType type, final Throwable failure) {
        if (frame.kind() != FrameKind.REQUEST) {
            answer(type, frame.correlationId(), null, sender.unsent(failure, "a reply to "), frame.ticket());
            return;
        }
        final Reply reply;
        synchronized (link) {
            reply = pending.remove(frame.correlationId());
        }
        if (reply != null) {
            reply.future().completeExceptionally(sender.unsent(failure, "a request to "));
        }
    }

    private void answerWith(final MessageType type, final long correlationId, final MessageLite reply, final Throwable failure,
        final Intake.Ticket ticket) {
        Throwable reason = failure;
        try {
            if (reason == null) {
                sender.send(FrameKind.REPLY, type, correlationId, reply, ticket, this::onUnwritten);
                return;
            }
        } catch (final AlreadyClosedException e) {
            // The connection has ended: nothing can be sent.
            return;
        } catch (final IOException | RuntimeException | OutOfMemoryError e) {
            reason = sender.unsent(e, "a reply to ");
        }
        try {
            sender.sendFailure(type, correlationId, reason, ticket);
        } catch (final AlreadyClosedException e) {
            // As above.
            return;
        } catch (final IOException | RuntimeException e) {
            link.fail(new IOException("cannot reply to " + link.name() + ": " + e.getMessage(), e));
        }
    }
}
