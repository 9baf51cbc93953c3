package io.ringpoll.ratis;

import io.ringpoll.internal.transport.Link;
import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Reply;
import java.io.Closeable;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.TimeDuration;

/**
 * A peer as seen by the engine: a connection for requests. When it fails, the engine discards the proxy and creates another.
 * Thread-safe.
 */
final class RdmaProxy implements Closeable {
    private final Link link;

    RdmaProxy(final Link link) {
        this.link = link;
    }

    /** Sends a request with a time-out; the reply completes on a handler's thread. */
    CompletableFuture<MessageLite> sendAsync(final MessageType type, final MessageLite request, final TimeDuration timeout) {
        return link.request(type, request, timeout.toLong(TimeUnit.NANOSECONDS)).future();
    }

    /** Sends a request and waits for the reply. */
    MessageLite send(final MessageType type, final MessageLite request, final TimeDuration timeout) throws IOException {
        final Reply reply = link.request(type, request);
        try {
            return reply.future().get(timeout.getDuration(), timeout.getUnit());
        } catch (final InterruptedException e) {
            reply.cancel();
            Thread.currentThread().interrupt();
            throw IOUtils.toInterruptedIOException("interrupted while waiting for " + link.name(), e);
        } catch (final ExecutionException e) {
            throw IOUtils.toIOException(e);
        } catch (final TimeoutException e) {
            reply.cancel();
            throw new TimeoutIOException("no reply from " + link.name() + " to " + type + " in " + timeout, e);
        }
    }

    /** Whether requests can still be sent. */
    boolean isOpen() {
        return link.isOpen();
    }

    @Override
    public void close() {
        link.fail(new IOException("closed by this side"));
    }

    @Override
    public String toString() {
        return link.toString();
    }
}
