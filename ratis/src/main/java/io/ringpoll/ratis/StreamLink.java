package io.ringpoll.ratis;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.StreamPacket;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.client.RaftClientConfigKeys;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.proto.RaftProtos.DataStreamReplyHeaderProto;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.util.IOUtils;
import org.apache.ratis.util.TimeDuration;

/** A connection for the packets of streams to one server: a sender waits for room in the window. Thread-safe. */
final class StreamLink {
    private final RdmaProxy proxy;
    private final ByteWindow window;
    private final TimeDuration timeout;

    StreamLink(final RdmaProxy proxy, final ByteWindow window, final RaftProperties properties) {
        this.proxy = proxy;
        this.window = window;
        timeout = RaftClientConfigKeys.DataStream.requestTimeout(properties);
    }

    /**
     * Sends a packet; waits until there is room for it.
     *
     * @return completes on a handler's thread, so dependent actions must not block
     * @throws IOException if there is no room in time, or the thread is interrupted
     */
    CompletableFuture<DataStreamReplyHeaderProto> send(final StreamPacket packet) throws IOException {
        try {
            window.acquire(packet.getSerializedSize(), timeout);
        } catch (final InterruptedException e) {
            Thread.currentThread().interrupt();
            throw IOUtils.toInterruptedIOException("interrupted while waiting for the replies of " + proxy, e);
        } catch (final TimeoutException e) {
            throw new TimeoutIOException(proxy + ": " + e.getMessage(), e);
        }
        return sendReserved(packet);
    }

    /** Takes the room for a packet without waiting; returns false if there is none. */
    boolean tryReserve(final StreamPacket packet) {
        return window.tryAcquire(packet.getSerializedSize());
    }

    /** Releases the room of a packet that is not sent. */
    void cancel(final StreamPacket packet) {
        window.release(packet.getSerializedSize());
    }

    /** Sends a packet that has room; as {@link #send}, but does not block if the packet is in registered memory. */
    CompletableFuture<DataStreamReplyHeaderProto> sendReserved(final StreamPacket packet) {
        final int length = packet.getSerializedSize();
        boolean sent = false;
        try {
            final CompletableFuture<DataStreamReplyHeaderProto> reply =
                proxy.sendAsync(MessageType.DATA_STREAM, packet, packet.isClose() ? timeout.multiply(2) : timeout)
                    .whenComplete((message, failure) -> window.release(length))
                    .thenApply(DataStreamReplyHeaderProto.class::cast);
            sent = true;
            return reply;
        } finally {
            if (!sent) {
                window.release(length);
            }
        }
    }

    /** Whether packets can still be sent. */
    boolean isOpen() {
        return proxy.isOpen();
    }
}
