package io.ringpoll.internal.rc;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.verbs.MessageReceives;
import io.ringpoll.internal.verbs.MessageSends;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/** A connection of which some calls fail as planned. */
public final class DefectiveConnection extends RcConnection {
    private final RcConnection connection;
    private final AtomicInteger closesRefused = new AtomicInteger();
    private final AtomicReference<RdmaException> unread = new AtomicReference<>();
    private final AtomicReference<RdmaException> lost = new AtomicReference<>();
    private final AtomicReference<RuntimeException> queueless = new AtomicReference<>();
    private final AtomicReference<RuntimeException> sendless = new AtomicReference<>();
    private final AtomicInteger disconnects = new AtomicInteger();
    private final AtomicInteger closes = new AtomicInteger();
    private volatile boolean closed;

    /** Passes all calls on, until the test plans a failure. */
    public DefectiveConnection(final RcConnection connection) {
        this.connection = connection;
    }

    /** The next closes find it in use. */
    public void refuseCloses(final int count) {
        closesRefused.set(count);
    }

    /** The next close frees everything, and reports a failed call. */
    public void failClose(final RdmaException failure) {
        lost.set(failure);
    }

    /** The next event is an unknown one, reported by librpma as this failure. */
    public void putUnknownEvent(final RdmaException reported) {
        unread.set(new UnknownEventException(name(), reported));
    }

    @Override
    public String name() {
        return connection.name();
    }

    @Override
    public int queuePairNumber() {
        return connection.queuePairNumber();
    }

    /** From now on, its queue is not returned. */
    public void failQueue(final RuntimeException failure) {
        queueless.set(failure);
    }

    /** The number of calls that disconnect. */
    public int disconnects() {
        return disconnects.get();
    }

    /** The number of closes, refused ones included. */
    public int closes() {
        return closes.get();
    }

    /** From now on, its sends are not made. */
    public void failSends(final RuntimeException failure) {
        sendless.set(failure);
    }

    @Override
    public MessageSends sends(final RcMemory region) {
        final RuntimeException failed = sendless.get();
        if (failed != null) {
            throw failed;
        }
        return connection.sends(region);
    }

    @Override
    public MessageReceives receives(final RcMemory region) {
        return connection.receives(region);
    }

    /** Whether a close has succeeded. */
    @Override
    public boolean isClosed() {
        return closed;
    }

    @Override
    public CompletionQueue completionQueue() {
        final RuntimeException failed = queueless.get();
        if (failed != null) {
            throw failed;
        }
        return connection.completionQueue();
    }

    @Override
    public Optional<CompletionQueue> receiveCompletionQueue() {
        return connection.receiveCompletionQueue();
    }

    @Override
    public Optional<CompletionChannel> completionChannel() {
        return connection.completionChannel();
    }

    @Override
    public Optional<CompletionChannel> receiveCompletionChannel() {
        return connection.receiveCompletionChannel();
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
        final RdmaException failed = unread.getAndSet(null);
        if (failed != null) {
            throw failed;
        }
        return connection.nextEvent(timeoutMs);
    }

    @Override
    public byte[] privateData() {
        return connection.privateData();
    }

    @Override
    public void disconnect() {
        disconnects.incrementAndGet();
        connection.disconnect();
    }

    @Override
    public boolean send(final RcMemory source, final long offset, final long lengthBytes, final boolean signaled,
        final long workRequestId) {
        return connection.send(source, offset, lengthBytes, signaled, workRequestId);
    }

    @Override
    public boolean sendWithImmediate(final RcMemory source, final long offset, final long lengthBytes, final boolean signaled,
        final int immediate, final long workRequestId) {
        return connection.sendWithImmediate(source, offset, lengthBytes, signaled, immediate, workRequestId);
    }

    @Override
    public boolean write(final RcRemoteMemory target, final long targetOffset, final RcMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        return connection.write(target, targetOffset, source, sourceOffset, lengthBytes, signaled, workRequestId);
    }

    @Override
    public boolean writeWithImmediate(final RcRemoteMemory target, final long targetOffset, final RcMemory source,
        final long sourceOffset, final long lengthBytes, final boolean signaled, final int immediate, final long workRequestId) {
        return connection.writeWithImmediate(target, targetOffset, source, sourceOffset, lengthBytes, signaled, immediate,
            workRequestId);
    }

    @Override
    public boolean read(final RcMemory target, final long targetOffset, final RcRemoteMemory source, final long sourceOffset,
        final long lengthBytes, final boolean signaled, final long workRequestId) {
        return connection.read(target, targetOffset, source, sourceOffset, lengthBytes, signaled, workRequestId);
    }

    @Override
    public boolean flush(final RcRemoteMemory target, final long targetOffset, final long lengthBytes, final boolean signaled,
        final long workRequestId) {
        return connection.flush(target, targetOffset, lengthBytes, signaled, workRequestId);
    }

    @Override
    public boolean atomicWrite(final RcRemoteMemory target, final long targetOffset, final long value, final boolean signaled,
        final long workRequestId) {
        return connection.atomicWrite(target, targetOffset, value, signaled, workRequestId);
    }

    @Override
    public boolean receive(final RcMemory target, final long offset, final long lengthBytes, final long workRequestId) {
        return connection.receive(target, offset, lengthBytes, workRequestId);
    }

    @Override
    public void close() {
        closes.incrementAndGet();
        if (closesRefused.getAndDecrement() > 0) {
            throw new IllegalStateException("a post has not returned");
        }
        connection.close();
        closed = true;
        final RdmaException failed = lost.getAndSet(null);
        if (failed != null) {
            throw failed;
        }
    }
}
