package io.ringpoll.internal.rc;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.internal.verbs.MessagePosts;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.FlushType;
import io.ringpoll.rpma.RpmaError;
import io.ringpoll.rpma.RpmaException;
import java.util.Optional;

/** A connection over librpma: a {@link Connection}. Threads: {@link RcConnection}. */
final class RpmaConnection extends RcConnection {
    private final Connection connection;
    private final Optional<CompletionQueue> receiveQueue;

    RpmaConnection(final Connection connection) {
        this.connection = connection;
        receiveQueue = connection.receiveCompletionQueue().map(CompletionQueue.class::cast);
    }

    Connection connection() {
        return connection;
    }

    @Override
    public String name() {
        return connection.name();
    }

    @Override
    public int queuePairNumber() {
        return connection.queuePairNumber();
    }

    @Override
    public CompletionQueue completionQueue() {
        return connection.completionQueue();
    }

    @Override
    public Optional<CompletionQueue> receiveCompletionQueue() {
        return receiveQueue;
    }

    @Override
    public Optional<CompletionChannel> completionChannel() {
        return Optional.empty();
    }

    @Override
    public Optional<CompletionChannel> receiveCompletionChannel() {
        return Optional.empty();
    }

    @Override
    public boolean isSubjectOf(final AsyncEvent event) {
        return connection.isSubjectOf(event);
    }

    @Override
    public int eventFd() {
        return connection.eventFd();
    }

    @Override
    public Optional<RcEvent> nextEvent(final int timeoutMs) {
        final Optional<ConnectionEvent> event;
        try {
            event = connection.nextEvent(timeoutMs);
        } catch (final RpmaException failed) {
            if (failed.code() == RpmaError.UNKNOWN) {
                throw new UnknownEventException(name(), failed);
            }
            throw failed;
        }
        if (event.isPresent() && event.get() == ConnectionEvent.UNDEFINED) {
            throw new UnknownEventException(name(), event.get().name());
        }
        return event.map(known -> RcEvent.valueOf(known.name()));
    }

    @Override
    public byte[] privateData() {
        return connection.privateData();
    }

    @Override
    public void disconnect() {
        connection.disconnect();
    }

    private static CompletionFlag flag(final boolean signaled) {
        return signaled ? CompletionFlag.ALWAYS : CompletionFlag.ON_ERROR;
    }

    @Override
    public boolean send(
        final RcMemory source, final long offset, final long lengthBytes, final boolean signaled, final long workRequestId) {
        return connection.send(RpmaMemory.of(source), offset, lengthBytes, flag(signaled), workRequestId);
    }

    @Override
    public boolean sendWithImmediate(final RcMemory source, final long offset, final long lengthBytes, final boolean signaled,
        final int immediate, final long workRequestId) {
        return connection.sendWithImmediate(
            RpmaMemory.of(source), offset, lengthBytes, flag(signaled), immediate, workRequestId);
    }

    @Override
    public boolean write(final RcRemoteMemory target, final long targetOffset, final RcMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        return connection.write(RpmaRemoteMemory.of(target), targetOffset, RpmaMemory.of(source), sourceOffset, lengthBytes,
            flag(signaled), workRequestId);
    }

    @Override
    public boolean writeWithImmediate(final RcRemoteMemory target, final long targetOffset, final RcMemory source,
        final long sourceOffset, final long lengthBytes, final boolean signaled, final int immediate, final long workRequestId) {
        return connection.writeWithImmediate(RpmaRemoteMemory.of(target), targetOffset, RpmaMemory.of(source), sourceOffset,
            lengthBytes, flag(signaled), immediate, workRequestId);
    }

    @Override
    public boolean read(final RcMemory target, final long targetOffset, final RcRemoteMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        return connection.read(RpmaMemory.of(target), targetOffset, RpmaRemoteMemory.of(source), sourceOffset, lengthBytes,
            flag(signaled), workRequestId);
    }

    @Override
    public boolean flush(final RcRemoteMemory target, final long targetOffset, final long lengthBytes, final boolean signaled,
        final long workRequestId) {
        return connection.flush(RpmaRemoteMemory.of(target), targetOffset, lengthBytes, FlushType.VISIBILITY, flag(signaled),
            workRequestId);
    }

    @Override
    public boolean atomicWrite(final RcRemoteMemory target, final long targetOffset, final long value, final boolean signaled,
        final long workRequestId) {
        return connection.atomicWrite(RpmaRemoteMemory.of(target), targetOffset, value, flag(signaled), workRequestId);
    }

    @Override
    public boolean receive(final RcMemory target, final long offset, final long lengthBytes, final long workRequestId) {
        return connection.receive(RpmaMemory.of(target), offset, lengthBytes, workRequestId);
    }

    @Override
    public MessageSends sends(final RcMemory region) {
        return MessagePosts.sends(connection, RpmaMemory.of(region));
    }

    @Override
    public MessageReceives receives(final RcMemory region) {
        return MessagePosts.receives(connection, RpmaMemory.of(region));
    }

    @Override
    public boolean isClosed() {
        return connection.isClosed();
    }

    @Override
    public void close() {
        connection.close();
    }
}
