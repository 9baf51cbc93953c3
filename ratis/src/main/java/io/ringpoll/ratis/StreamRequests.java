package io.ringpoll.ratis;

import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.RequestHandler;
import io.ringpoll.internal.transport.StreamPacket;
import io.ringpoll.internal.transport.StreamPacket.Identity;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.ratis.proto.RaftProtos.DataStreamReplyHeaderProto;
import org.apache.ratis.protocol.exceptions.AlreadyExistsException;
import org.apache.ratis.protocol.exceptions.DataStreamException;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * The streams of one connection. Their packets are passed to {@link StreamSession}, all other requests to another handler. The
 * end of the connection ends its streams. Nothing blocks: the calls of state machines and successors are made by other threads.
 * The number of packets is bounded by the bytes of the connection that have no reply.
 */
final class StreamRequests implements RequestHandler {
    /** Number of failed streams of which the reason is kept, for packets that the peer had sent before it received it. */
    private static final int MAX_FAILURES = 64;

    private final StreamServer server;
    private final RequestHandler others;
    private final Map<Identity, StreamSession> open = new ConcurrentHashMap<>();
    /** Reasons for the failures of the latest failed streams; guarded by this map. */
    private final Map<Identity, Throwable> failures = new LinkedHashMap<>();
    private volatile boolean ended;

    StreamRequests(final StreamServer server, final RequestHandler others) {
        this.server = server;
        this.others = others;
    }

    @Override
    public RequestHandler forConnection() {
        return new StreamRequests(server, others.forConnection());
    }

    @Override
    public CompletableFuture<? extends MessageLite> handle(final MessageType type, final MessageLite request) {
        return handle(type, request, () -> { });
    }

    @Override
    public CompletableFuture<? extends MessageLite> handle(
        final MessageType type, final MessageLite request, final Runnable taken) {
        if (!(request instanceof final StreamPacket packet)) {
            return others.handle(type, request, taken);
        }
        taken.run();
        return switch (packet.kind()) {
            case HEADER -> begin(packet);
            case DATA -> append(packet);
            case ABORT -> abort(packet);
        };
    }

    private CompletableFuture<DataStreamReplyHeaderProto> begin(final StreamPacket packet) {
        if (open.size() >= server.maxStreams()) {
            return refuse(packet, new IOException("the connection has " + open.size() + " open streams already (" +
                RdmaConfigKeys.LINK_REQUESTS_MAX_KEY + ")"));
        }
        final Identity identity = packet.identity();
        final StreamSession session =
            new StreamSession(server, identity, (failed, reason) -> onFailure(identity, failed, reason));
        if (open.putIfAbsent(packet.identity(), session) != null) {
            return refuse(packet, new AlreadyExistsException("the stream is open already: " + packet));
        }
        final CompletableFuture<DataStreamReplyHeaderProto> reply = session.open(packet);
        if (ended) {
            session.fail(new IOException("the connection has ended"));
        }
        return reply;
    }

    private CompletableFuture<DataStreamReplyHeaderProto> append(final StreamPacket packet) {
        final StreamSession session = packet.isClose() ? open.remove(packet.identity()) : open.get(packet.identity());
        return session == null ? refuse(packet, notOpen(packet)) : session.append(packet);
    }

    private IOException notOpen(final StreamPacket packet) {
        final Throwable failure;
        synchronized (failures) {
            failure = failures.get(packet.identity());
        }
        return failure == null ? new IOException("the stream is not open: " + packet) :
            new IOException("the stream has failed: " + failure.getMessage(), failure);
    }

    private void onFailure(final Identity identity, final StreamSession session, final Throwable reason) {
        synchronized (failures) {
            failures.put(identity, reason);
            if (failures.size() > MAX_FAILURES) {
                failures.remove(failures.keySet().iterator().next());
            }
        }
        open.remove(identity, session);
    }

    private CompletableFuture<DataStreamReplyHeaderProto> abort(final StreamPacket packet) {
        packet.release();
        final StreamSession session = open.remove(packet.identity());
        if (session != null) {
            session.fail(new IOException("the stream was ended by its sender"));
        }
        return CompletableFuture.completedFuture(DataStreamReplyHeaderProto.newBuilder().setSuccess(true).build());
    }

    private CompletableFuture<DataStreamReplyHeaderProto> refuse(final StreamPacket packet, final IOException reason) {
        packet.release();
        return CompletableFuture.failedFuture(new DataStreamException(server.server().getId(), reason));
    }

    @Override
    public void onEnd() {
        ended = true;
        List.copyOf(open.values()).forEach(session -> session.fail(new IOException("the connection of the stream has ended")));
        others.onEnd();
    }
}
