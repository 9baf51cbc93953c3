package io.ringpoll.internal.transport;

import io.ringpoll.internal.transport.PeerCounters.Figure;
import io.ringpoll.internal.transport.TransportCounters.Count;
import java.io.IOException;
import org.apache.ratis.protocol.exceptions.ResourceUnavailableException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * Makes frames of messages to one peer: a short message is contained in its frame, a long one is written to registered memory for
 * the peer to read. A message that a handler's thread sends and that takes long to write has its place in the queue first, and
 * is written by a thread for long messages. Stateless; never holds the lock of the link while it writes.
 */
final class MessageSender {
    private final Link link;
    private final Node node;
    private final OutboundQueue outbound;

    /** Called when the message of a queued frame could not be written; the frame will not be sent. */
    @FunctionalInterface
    interface UnwrittenHandler {
        void onUnwritten(Outgoing frame, MessageType type, Throwable failure);
    }

    MessageSender(final Link link, final Node node, final OutboundQueue outbound) {
        this.link = link;
        this.node = node;
        this.outbound = outbound;
    }

    /**
     * Sends a message.
     *
     * @param ticket    of the request that the message answers, or null
     * @param unwritten called, on another thread, instead of an exception for a message that is written later
     * @throws MessageTooLongException      if a limit of one side forbids it
     * @throws ResourceUnavailableException if it is a long reply, and clients must read others before
     */
    void send(final byte kind, final MessageType type, final long correlationId, final MessageLite message,
        final Intake.Ticket ticket, final UnwrittenHandler unwritten) throws IOException {
        final int length = message.getSerializedSize();
        final boolean fits;
        final int peerLimit;
        final boolean isTooLong;
        final boolean isAdmitted;
        synchronized (link) {
            fits = length <= outbound.frameMessageBytes();
            peerLimit = outbound.peerMaxMessageBytes();
            isTooLong = length > Math.min(node.config().maxMessageBytes(), peerLimit);
            if (ticket != null) {
                ticket.reply(length);
            }
            isAdmitted = ticket == null || isTooLong || ticket.takeRegion(fits ? 0 : node.replyBytes(length));
        }
        if (isTooLong) {
            throw tooLong(kind, type, length, peerLimit);
        }
        if (!isAdmitted) {
            node.counters().increment(Count.REPLIES_REFUSED);
            throw new ResourceUnavailableException("a reply of " + length + " bytes to " + link.name() +
                " is refused: clients have not read others (raft.rdma.reply.bytes.max)");
        }
        if (!fits && length > LongMessageThreads.INLINE_BYTES && !StreamPacket.isRegistered(message) && node.isHandlerThread()) {
            final Outgoing frame = Outgoing.unwritten(kind, type.code(), correlationId, message, length, ticket);
            link.enqueue(frame);
            link.later(() -> write(frame, type, unwritten));
            return;
        }
        final RegionPool.Lease lease = fits ? null : node.advertised(message, length);
        try {
            final Outgoing frame = new Outgoing(kind, type.code(), correlationId, fits ? message : null, lease, length, ticket);
            link.enqueue(fits && isUrgent(kind, type, message, ticket) ? frame.urgent() : frame);
        } catch (final IOException | RuntimeException | Error failure) {
            if (lease != null) {
                lease.release();
            }
            throw failure;
        }
        countSent(length);
    }

    private void countSent(final int lengthBytes) {
        node.counters().add(Count.BYTES_SENT, lengthBytes);
        link.peer().add(Figure.BYTES_SENT, lengthBytes);
    }

    private static boolean isUrgent(final byte kind, final MessageType type, final MessageLite message,
        final Intake.Ticket ticket) {
        return kind == FrameKind.REQUEST ? type.isUrgent(message) : ticket != null && ticket.isUrgent();
    }

    /** Writes the message of a queued frame to registered memory. */
    private void write(final Outgoing frame, final MessageType type, final UnwrittenHandler unwritten) throws IOException {
        RegionPool.Lease lease = null;
        Throwable failure = null;
        try {
            lease = node.advertised(frame.message(), frame.messageLength());
            countSent(frame.messageLength());
        } catch (final IOException | RuntimeException | OutOfMemoryError e) {
            failure = e;
        }
        try {
            synchronized (link) {
                if (link.isOpen()) {
                    if (lease != null) {
                        outbound.written(frame, lease);
                        lease = null;
                    } else {
                        outbound.remove(frame);
                    }
                    link.postWaiting();
                }
            }
        } finally {
            if (lease != null) {
                lease.release();
            }
            if (failure != null) {
                // Also if no frame can be posted: this one is in no queue any more, so the end of the link does not find it.
                unwritten.onUnwritten(frame, type, failure);
            }
        }
    }

    private MessageTooLongException tooLong(final byte kind, final MessageType type, final int length, final int peerLimit) {
        final int limit = Math.min(node.config().maxMessageBytes(), peerLimit);
        final String owner = limit == peerLimit ? link.name() : node.config().name();
        return new MessageTooLongException((kind == FrameKind.REQUEST ? "a request " : "a reply to ") + type + " for " +
            link.name() + " has " + length + " bytes, over the limit of " + limit + " of " + owner +
            " (raft.rdma.message.size.max)", limit);
    }

    /** Sends a failure in a frame, so that it needs no further memory. */
    void sendFailure(final MessageType type, final long correlationId, final Throwable reason, final Intake.Ticket ticket)
        throws IOException {
        final int mostBytes;
        synchronized (link) {
            mostBytes = outbound.frameMessageBytes();
        }
        send(FrameKind.FAILURE, type, correlationId, Failures.toProto(reason, mostBytes), ticket, (frame, of, failure) -> {
            throw new AssertionError("a failure of several frames", failure);
        });
    }

    /**
     * The failure of a message that was not sent, while the connection remains. A message over a limit will never be sent. Too
     * little memory, or memory that was freed when the node closed, is an error that the engine retries with the same server.
     */
    IOException unsent(final Throwable failure, final String subject) {
        final IOException reason = failure instanceof final IOException io ? io :
            new ResourceUnavailableException(subject + link.name() + " cannot be sent: " + failure);
        node.unsent(reason);
        return reason;
    }
}
