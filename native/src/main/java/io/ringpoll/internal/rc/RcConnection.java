package io.ringpoll.internal.rc;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import java.util.Optional;

/**
 * A reliable connection: posts work requests, which complete in its completion queues. Any thread may post, wait and close.
 *
 * <p>A post allocates nothing. It is true if the request was accepted, and false if the queue, or the budget of its completion
 * queue, is full. A request that is not signaled completes only if it fails.
 */
public abstract class RcConnection extends RcResource {
    RcConnection() {
    }

    /**
     * The name in messages.
     *
     * @return with the number of the queue pair
     */
    public abstract String name();

    /**
     * The number of the local queue pair.
     *
     * @return unsigned
     */
    public abstract int queuePairNumber();

    /**
     * The main completion queue; without a receive queue of its own, receives complete here, too.
     *
     * @return the same at each call
     */
    public abstract CompletionQueue completionQueue();

    /**
     * The receive completion queue.
     *
     * @return the same at each call; empty if there is none
     */
    public abstract Optional<CompletionQueue> receiveCompletionQueue();

    /**
     * The channel of the main completion queue's events, where a poller must request and take them. It is empty where a poller
     * opens the channel itself, as for queues of librpma. A connection whose queue no poller sleeps on does without.
     *
     * @return the same at each call; owned by this connection, and used by one thread at a time
     */
    public abstract Optional<CompletionChannel> completionChannel();

    /**
     * The channel of the receive completion queue's events, as {@link #completionChannel()}.
     *
     * @return empty also if there is no such queue, or it shares the channel of the main queue
     */
    public abstract Optional<CompletionChannel> receiveCompletionChannel();

    /**
     * Whether an asynchronous event is about this connection's queue pair or one of its completion queues.
     *
     * @param event of the same device
     * @return true if it is
     */
    public abstract boolean isSubjectOf(AsyncEvent event);

    /**
     * The descriptor that is readable when there is an event.
     *
     * @return valid until this is closed
     */
    public abstract int eventFd();

    /**
     * Waits for the next event of the connection.
     *
     * @param timeoutMs maximum time in milliseconds; 0 does not wait, negative waits until this is closed
     * @return the event, or empty if there was none in time
     * @throws UnknownEventException if it is not about the connection
     */
    public abstract Optional<RcEvent> nextEvent(int timeoutMs);

    /**
     * The private data of the other side's request or answer.
     *
     * @return a new array; empty if there is none, or before {@link RcEvent#ESTABLISHED}
     */
    public abstract byte[] privateData();

    /** Disconnects: outstanding work requests complete with flush errors, both sides get {@link RcEvent#CLOSED}. */
    public abstract void disconnect();

    /**
     * Posts a message.
     *
     * @param source        the message; null for an empty one
     * @param offset        in bytes
     * @param lengthBytes   of the message
     * @param signaled      whether it completes if it succeeds
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean send(RcMemory source, long offset, long lengthBytes, boolean signaled, long workRequestId);

    /**
     * Posts a message with 32 bits of data.
     *
     * @param source        the message; null for an empty one
     * @param offset        in bytes
     * @param lengthBytes   of the message
     * @param signaled      whether it completes if it succeeds
     * @param immediate     the 32 bits
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean sendWithImmediate(
        RcMemory source, long offset, long lengthBytes, boolean signaled, int immediate, long workRequestId);

    /**
     * Posts a write.
     *
     * @param target        memory of the other side; null, as the source, for a write of nothing
     * @param targetOffset  in bytes
     * @param source        the data
     * @param sourceOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it completes if it succeeds
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean write(RcRemoteMemory target, long targetOffset, RcMemory source, long sourceOffset, long lengthBytes,
        boolean signaled, long workRequestId);

    /**
     * Posts a write that also consumes a receive and completes it with 32 bits of data.
     *
     * @param target        memory of the other side
     * @param targetOffset  in bytes
     * @param source        the data
     * @param sourceOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it completes if it succeeds
     * @param immediate     the 32 bits
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean writeWithImmediate(RcRemoteMemory target, long targetOffset, RcMemory source, long sourceOffset,
        long lengthBytes, boolean signaled, int immediate, long workRequestId);

    /**
     * Posts a read.
     *
     * @param target        where the bytes go
     * @param targetOffset  in bytes
     * @param source        memory of the other side
     * @param sourceOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it completes if it succeeds
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean read(RcMemory target, long targetOffset, RcRemoteMemory source, long sourceOffset, long lengthBytes,
        boolean signaled, long workRequestId);

    /**
     * Posts a flush: it completes, as a read, when earlier writes have reached the other side's memory.
     *
     * @param target        memory of the other side, registered for {@link RcUsage#FLUSH_VISIBILITY}
     * @param targetOffset  in bytes
     * @param lengthBytes   number of bytes
     * @param signaled      whether it completes if it succeeds
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean flush(
        RcRemoteMemory target, long targetOffset, long lengthBytes, boolean signaled, long workRequestId);

    /**
     * Posts a write of 8 bytes at once, ordered after all reads and flushes posted before.
     *
     * @param target        memory of the other side
     * @param targetOffset  in bytes, a multiple of 8
     * @param value         the 8 bytes, in native byte order
     * @param signaled      whether it completes if it succeeds
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean atomicWrite(
        RcRemoteMemory target, long targetOffset, long value, boolean signaled, long workRequestId);

    /**
     * Posts a receive.
     *
     * @param target        of the message; null for an empty one
     * @param offset        in bytes
     * @param lengthBytes   capacity for the message
     * @param workRequestId is returned with the completion
     * @return whether it was accepted
     */
    public abstract boolean receive(RcMemory target, long offset, long lengthBytes, long workRequestId);

    /**
     * The sends of messages from one region, for a layer that keeps them within it; {@link RcConfig#uncounted()} connections
     * only.
     *
     * @param region of the messages
     * @return for one thread at a time
     */
    public abstract MessageSends sends(RcMemory region);

    /**
     * The receives of messages in one region, for a layer that keeps them within it; {@link RcConfig#uncounted()} connections
     * only.
     *
     * @param region of the messages
     * @return for one thread at a time
     */
    public abstract MessageReceives receives(RcMemory region);

    /**
     * Whether this is closed.
     *
     * @return false until then
     */
    public abstract boolean isClosed();

    /**
     * Waits until the connection is established.
     *
     * @param timeoutMs maximum time in milliseconds
     * @throws IllegalStateException if it was not established, or not in time
     */
    public final void awaitEstablished(final int timeoutMs) {
        final RcEvent event = firstEvent(timeoutMs);
        if (event != RcEvent.ESTABLISHED) {
            throw new IllegalStateException(name() + " was not established: " + event);
        }
    }

    /**
     * Waits for the first event.
     *
     * @param timeoutMs maximum time in milliseconds
     * @return the event
     * @throws IllegalStateException if there was none in time
     */
    public final RcEvent firstEvent(final int timeoutMs) {
        return nextEvent(timeoutMs).orElseThrow(
            () -> new IllegalStateException(name() + " was not established within " + timeoutMs + " ms"));
    }
}
