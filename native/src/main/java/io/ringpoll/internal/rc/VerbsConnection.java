package io.ringpoll.internal.rc;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.ffm.Bounds;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.verbs.ConnectionEvent;
import io.ringpoll.verbs.ConnectionEventType;
import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.RemoteMemory;
import java.util.Objects;
import java.util.Optional;

/** A connection over verbs: a connected {@link ConnectionId} with its queue pair. Threads: {@link RcConnection}. */
final class VerbsConnection extends RcConnection {
    private final VerbsPeer peer;
    private final VerbsQueues queues;
    private final ConnectionId id;
    private final QueuePair queuePair;
    private final Optional<CompletionQueue> receiveQueue;
    private final Optional<CompletionChannel> completionChannel;
    private volatile byte[] answer = {};

    VerbsConnection(final VerbsPeer peer, final VerbsQueues queues) {
        this.peer = peer;
        this.queues = queues;
        id = queues.id();
        queuePair = queues.queuePair();
        receiveQueue = queues.receives().map(CompletionQueue.class::cast);
        completionChannel = Optional.of(queues.channel());
    }

    QueuePair queuePair() {
        return queuePair;
    }

    @Override
    public String name() {
        return "connection of " + queuePair.name();
    }

    @Override
    public int queuePairNumber() {
        return queuePair.number();
    }

    @Override
    public CompletionQueue completionQueue() {
        return queues.main();
    }

    @Override
    public Optional<CompletionQueue> receiveCompletionQueue() {
        return receiveQueue;
    }

    @Override
    public Optional<CompletionChannel> completionChannel() {
        return completionChannel;
    }

    @Override
    public Optional<CompletionChannel> receiveCompletionChannel() {
        return queues.receiveChannel();
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return queuePair.isSubjectOf(event) || queues.main().isSubjectOf(event) ||
            receiveQueue.isPresent() && receiveQueue.get().isSubjectOf(event);
    }

    @Override
    public int eventFd() {
        return id.eventFd();
    }

    @Override
    public Optional<RcEvent> nextEvent(final int timeoutMs) {
        final Optional<ConnectionEvent> event = id.nextEvent(timeoutMs);
        if (event.isEmpty()) {
            return Optional.empty();
        }
        if (event.get().type() == ConnectionEventType.ESTABLISHED) {
            answer = event.get().privateData();
        }
        return Optional.of(switch (event.get().type()) {
            case ESTABLISHED -> RcEvent.ESTABLISHED;
            case DISCONNECTED, TIMEWAIT_EXIT -> RcEvent.CLOSED;
            case CONNECT_ERROR, DEVICE_REMOVAL -> RcEvent.LOST;
            case REJECTED -> RcEvent.REJECTED;
            case UNREACHABLE -> RcEvent.UNREACHABLE;
            default -> throw new UnknownEventException(name(), event.get().toString());
        });
    }

    @Override
    public byte[] privateData() {
        final byte[] request = id.privateData();
        return request.length > 0 ? request : answer.clone();
    }

    @Override
    public void disconnect() {
        id.disconnect();
    }

    @Override
    public boolean send(
        final RcMemory source, final long offset, final long lengthBytes, final boolean signaled, final long workRequestId) {
        return queuePair.send(VerbsMemory.of(source), offset, lengthBytes, signaled, workRequestId);
    }

    @Override
    public boolean sendWithImmediate(final RcMemory source, final long offset, final long lengthBytes, final boolean signaled,
        final int immediate, final long workRequestId) {
        return queuePair.sendWithImmediate(VerbsMemory.of(source), offset, lengthBytes, signaled, immediate, workRequestId);
    }

    @Override
    public boolean write(final RcRemoteMemory target, final long targetOffset, final RcMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        return queuePair.write(VerbsRemoteMemory.of(target), targetOffset, VerbsMemory.of(source), sourceOffset, lengthBytes,
            signaled, workRequestId);
    }

    @Override
    public boolean writeWithImmediate(final RcRemoteMemory target, final long targetOffset, final RcMemory source,
        final long sourceOffset, final long lengthBytes, final boolean signaled, final int immediate, final long workRequestId) {
        return queuePair.writeWithImmediate(VerbsRemoteMemory.of(target), targetOffset, VerbsMemory.of(source), sourceOffset,
            lengthBytes, signaled, immediate, workRequestId);
    }

    @Override
    public boolean read(final RcMemory target, final long targetOffset, final RcRemoteMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        return queuePair.read(VerbsMemory.of(target), targetOffset, VerbsRemoteMemory.of(source), sourceOffset, lengthBytes,
            signaled, workRequestId);
    }

    @Override
    public boolean flush(final RcRemoteMemory target, final long targetOffset, final long lengthBytes, final boolean signaled,
        final long workRequestId) {
        final RemoteMemory flushed = Objects.requireNonNull(VerbsRemoteMemory.of(target), "the target of a flush is null");
        // Less is read than is flushed.
        Bounds.checkRange(targetOffset, lengthBytes, flushed.lengthBytes());
        return queuePair.read(peer.flushed(), 0, flushed, targetOffset,
            Math.min(VerbsPeer.FLUSH_BYTES, lengthBytes), signaled, workRequestId);
    }

    @Override
    public boolean atomicWrite(final RcRemoteMemory target, final long targetOffset, final long value, final boolean signaled,
        final long workRequestId) {
        return queues.atomicWrites().post(queuePair, Objects.requireNonNull(VerbsRemoteMemory.of(target),
            "the target of an atomic write is null"), targetOffset, value, signaled, workRequestId);
    }

    @Override
    public boolean receive(final RcMemory target, final long offset, final long lengthBytes, final long workRequestId) {
        return queuePair.receive(VerbsMemory.of(target), offset, lengthBytes, workRequestId);
    }

    @Override
    public MessageSends sends(final RcMemory region) {
        return MessagePosts.sends(queuePair, VerbsMemory.of(region));
    }

    @Override
    public MessageReceives receives(final RcMemory region) {
        return MessagePosts.receives(queuePair, VerbsMemory.of(region));
    }

    @Override
    public boolean isClosed() {
        return queuePair.isClosed();
    }

    @Override
    public void close() {
        queues.close();
    }
}
