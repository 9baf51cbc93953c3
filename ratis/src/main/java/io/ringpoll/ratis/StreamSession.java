package io.ringpoll.ratis;

import io.ringpoll.internal.transport.StreamPacket;
import io.ringpoll.internal.transport.StreamPacket.Content;
import io.ringpoll.internal.transport.StreamPacket.Identity;
import io.ringpoll.internal.transport.StreamPacket.Kind;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.proto.RaftProtos.DataStreamReplyHeaderProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.ClientInvocationId;
import org.apache.ratis.protocol.RaftClientRequest;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.AlreadyExistsException;
import org.apache.ratis.protocol.exceptions.DataStreamException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.server.RaftServer.Division;
import org.apache.ratis.statemachine.StateMachine.DataChannel;
import org.apache.ratis.statemachine.StateMachine.DataStream;
import org.apache.ratis.util.JavaUtils;
import org.apache.ratis.util.ReferenceCountedObject;
import org.apache.ratis.util.TimeDuration;
import org.apache.ratis.util.TimeoutExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A data stream at one server: writes its packets and forwards them to the successors. Packets are written and forwarded in their
 * order, independently, so that the disk does not delay the network. The thread that receives a packet forwards it, if the
 * windows of the successors have room and no packet waits:
 * <pre>
 *   packet -&gt; writes:   state machine's channel  --.
 *         `-&gt; forwards: successors, replies       ---+-&gt; reply
 * </pre>
 *
 * <p>The reply to the header does not wait for the successors: their failure is the reply to a later packet.
 *
 * <p>The first failure ends the stream: later packets fail, the state machine cleans the stream up, and the successors are
 * notified. Thread-safe; packets are passed in order by one thread at a time.
 */
final class StreamSession {
    private static final Logger LOG = LoggerFactory.getLogger(StreamSession.class);
    private static final CompletableFuture<List<CompletableFuture<DataStreamReplyHeaderProto>>> NOT_FORWARDED =
        CompletableFuture.completedFuture(List.of());

    private final StreamServer server;
    private final Identity identity;
    private final ClientInvocationId key;
    private final BiConsumer<StreamSession, Throwable> onFailure;
    /** Completes when the state machine has opened the stream; exceptionally when the stream fails before. */
    private final CompletableFuture<DataStream> opened = new CompletableFuture<>();
    /** Calls of the state machine, in the order of the packets. */
    private final SerialExecutor writes = new SerialExecutor(this::executeOnceOpened);
    /** Sends to the successors, in the order of the packets, which may wait for room. */
    private final SerialExecutor forwards;
    private volatile Division division;
    private volatile List<StreamLink> successors = List.of();
    private volatile boolean isPrimary;
    /** Whether the stream is in the engine's map. */
    private volatile boolean registered;
    private volatile Throwable failure;
    private volatile boolean closed;
    private volatile long lastPacketNs = System.nanoTime();
    /**
     * The one task of this stream in the engine's timer: the check of the open stream, the clean-up of the closed one, null of a
     * failed one. The timer keeps a task for its whole time, and must not keep the stream with it.
     */
    private final AtomicReference<Runnable> timed = new AtomicReference<>(this::checkIdle);
    /** The position of the next packet, in bytes; guarded by this. */
    private long length;

    /**
     * Creates a stream that is to be opened.
     *
     * @param onFailure called once, without a lock, if the stream ends otherwise than by its close; with the reason
     */
    StreamSession(final StreamServer server, final Identity identity, final BiConsumer<StreamSession, Throwable> onFailure) {
        this.server = server;
        this.identity = identity;
        this.onFailure = onFailure;
        forwards = new SerialExecutor(server.executor());
        key = ClientInvocationId.valueOf(ClientId.valueOf(identity.client()), identity.stream());
    }

    /** Opens the stream here and at the successors; owns the packet. */
    CompletableFuture<DataStreamReplyHeaderProto> open(final StreamPacket header) {
        final CompletableFuture<List<CompletableFuture<DataStreamReplyHeaderProto>>> sent =
            onThread(forwards, () -> openEverywhere(header));
        sent.whenComplete((replies, failed) -> header.release());
        sent.thenCompose(StreamSession::all).whenComplete((replies, failed) -> {
            if (failed != null) {
                fail(JavaUtils.unwrapCompletionException(failed));
            }
        });
        after(server.idleTimeout(), timed, key);
        return reply(header, opened.thenApply(stream -> 0L), NOT_FORWARDED);
    }

    private List<CompletableFuture<DataStreamReplyHeaderProto>> openEverywhere(final StreamPacket header) throws IOException {
        try {
            final RaftClientRequest request = begin(header);
            openLocally(request);
            successors = connect(request);
            return sendAll(header);
        } catch (final IOException | RuntimeException | Error e) {
            // Before the next packet is forwarded: the successors are not known.
            fail(e);
            throw e;
        }
    }

    /** Appends the data of a packet here and at the successors; owns the packet. */
    CompletableFuture<DataStreamReplyHeaderProto> append(final StreamPacket packet) {
        lastPacketNs = System.nanoTime();
        try {
            requireNext(packet);
        } catch (final IOException e) {
            packet.release();
            fail(e);
            return CompletableFuture.failedFuture(new DataStreamException(server.server().getId(), e));
        }
        packet.retain();
        final CompletableFuture<List<CompletableFuture<DataStreamReplyHeaderProto>>> sent = forward(packet);
        sent.whenComplete((replies, failed) -> packet.release());
        final CompletableFuture<Long> local = onThread(writes, () -> write(packet));
        local.whenComplete((bytes, failed) -> packet.release());
        return reply(packet, local, sent);
    }

    private synchronized void requireNext(final StreamPacket packet) throws IOException {
        requireNoFailure();
        if (packet.offset() != length) {
            throw new IOException(packet + " does not follow the data, which ends at " + length);
        }
        length += packet.dataBytes();
    }

    /** A task that may block or fail. */
    @FunctionalInterface
    private interface Task<T> {
        T run() throws IOException;
    }

    private static <T> CompletableFuture<T> onThread(final Executor executor, final Task<T> task) {
        try {
            return CompletableFuture.supplyAsync(() -> {
                try {
                    return task.run();
                } catch (final IOException e) {
                    throw new CompletionException(e);
                }
            }, executor);
        } catch (final RejectedExecutionException e) {
            return CompletableFuture.failedFuture(closed(e));
        }
    }

    private static AlreadyClosedException closed(final RuntimeException cause) {
        return new AlreadyClosedException("the server is closed", cause);
    }

    /** Runs tasks for the state machine on its own threads, if it has some, when the stream is open or has failed to open. */
    private void executeOnceOpened(final Runnable tasks) {
        opened.whenComplete((stream, failed) -> {
            final Executor own = stream == null ? null : stream.getExecutor();
            try {
                (own == null ? server.executor() : own).execute(tasks);
            } catch (final RuntimeException e) {
                fail(closed(e));
                // They fail without a call of the state machine.
                tasks.run();
            }
        });
    }

    private RaftClientRequest begin(final StreamPacket header) throws IOException {
        final RaftClientRequest request =
            ClientProtoUtils.toRaftClientRequest(RaftClientRequestProto.parseFrom(header.data()));
        if (!ClientInvocationId.valueOf(request).equals(key)) {
            throw new IOException("a header of " + ClientInvocationId.valueOf(request) + " for the stream " + key);
        }
        isPrimary = server.server().getId().equals(request.getServerId());
        division = server.server().getDivision(request.getRaftGroupId());
        return request;
    }

    private void openLocally(final RaftClientRequest request) throws IOException {
        final CompletableFuture<DataStream> created = new CompletableFuture<>();
        if (division.getDataStreamMap().computeIfAbsent(key, id -> created) != created) {
            throw new AlreadyExistsException("a stream exists already for " + key);
        }
        registered = true;
        if (failure != null) {
            cleanUp();
        }
        requireNoFailure();
        created.whenComplete(JavaUtils.asBiConsumer(opened));
        division.getStateMachine().data().stream(request).whenComplete(JavaUtils.asBiConsumer(created));
    }

    /** The connections to the successors; a server without routing table is one of all or none. */
    private List<StreamLink> connect(final RaftClientRequest request) throws IOException {
        final List<StreamLink> links = new ArrayList<>();
        for (final RaftPeer peer : successorsOf(request)) {
            links.add(server.connect(peer));
        }
        return links;
    }

    private Collection<RaftPeer> successorsOf(final RaftClientRequest request) throws IOException {
        final List<RaftPeer> peers = new ArrayList<>();
        if (request.getRoutingTable() != null) {
            for (final var id : request.getRoutingTable().getSuccessors(division.getId())) {
                final RaftPeer peer = division.getRaftConf().getPeer(id);
                if (peer == null) {
                    throw new IOException(id + " of the routing table is not in the group of " + division.getId());
                }
                peers.add(peer);
            }
        } else if (isPrimary) {
            division.getRaftConf().getCurrentPeers().stream().filter(peer -> !peer.getId().equals(division.getId()))
                .forEach(peers::add);
        }
        return peers;
    }

    /** Sends a packet to the successors: on this thread, if none waits for it. */
    private CompletableFuture<List<CompletableFuture<DataStreamReplyHeaderProto>>> forward(final StreamPacket packet) {
        if (!forwards.isIdle() || !reserveAll(packet)) {
            return onThread(forwards, () -> sendAll(packet));
        }
        final List<StreamLink> links = successors;
        if (links.isEmpty()) {
            return NOT_FORWARDED;
        }
        final List<CompletableFuture<DataStreamReplyHeaderProto>> replies = new ArrayList<>(links.size());
        for (final StreamLink link : links) {
            replies.add(link.sendReserved(packet));
        }
        return CompletableFuture.completedFuture(replies);
    }

    /** Takes the room for a packet at all successors; takes none and returns false if one has no room. */
    private boolean reserveAll(final StreamPacket packet) {
        final List<StreamLink> links = successors;
        for (int i = 0; i < links.size(); i++) {
            if (!links.get(i).tryReserve(packet)) {
                links.subList(0, i).forEach(link -> link.cancel(packet));
                return false;
            }
        }
        return true;
    }

    private List<CompletableFuture<DataStreamReplyHeaderProto>> sendAll(final StreamPacket packet) throws IOException {
        final List<CompletableFuture<DataStreamReplyHeaderProto>> replies = new ArrayList<>();
        requireNoFailure();
        for (final StreamLink link : successors) {
            replies.add(link.send(packet));
        }
        return replies;
    }

    private long write(final StreamPacket packet) throws IOException {
        requireNoFailure();
        final DataChannel channel = opened.join().getDataChannel();
        long bytes = 0;
        if (packet.dataBytes() > 0) {
            // The state machine may retain the data beyond the call.
            final var data = ReferenceCountedObject.wrap(packet.data(), packet::retain, ignored -> packet.release());
            data.retain();
            try {
                bytes = channel.write(data);
            } finally {
                data.release();
            }
        }
        if (packet.isSync()) {
            channel.force(false);
        }
        if (packet.isClose()) {
            channel.close();
        }
        return bytes;
    }

    private void requireNoFailure() throws IOException {
        if (failure != null) {
            throw new IOException("the stream has failed: " + failure.getMessage(), failure);
        }
    }

    /** Replies when the data is here and at all successors; the first failure ends the stream. */
    private CompletableFuture<DataStreamReplyHeaderProto> reply(final StreamPacket packet, final CompletableFuture<Long> local,
        final CompletableFuture<List<CompletableFuture<DataStreamReplyHeaderProto>>> sent) {
        return local.thenCombine(sent.thenCompose(StreamSession::all), (bytes, replies) -> reply(packet, bytes, replies))
            .exceptionally(failed -> {
                final Throwable cause = JavaUtils.unwrapCompletionException(failed);
                fail(cause);
                throw new CompletionException(new DataStreamException(server.server().getId(), cause));
            });
    }

    private DataStreamReplyHeaderProto reply(final StreamPacket packet, final long bytes,
        final List<DataStreamReplyHeaderProto> replies) {
        for (final DataStreamReplyHeaderProto each : replies) {
            if (!each.getSuccess() || each.getBytesWritten() != bytes) {
                throw new CompletionException(new IOException(
                    "a successor has written " + each.getBytesWritten() + " bytes, not " + bytes + ", of " + packet));
            }
        }
        if (packet.isClose()) {
            onClosed();
        }
        final DataStreamReplyHeaderProto.Builder reply =
            DataStreamReplyHeaderProto.newBuilder().setSuccess(true).setBytesWritten(bytes);
        return (isPrimary ? reply.addAllCommitInfos(division.getCommitInfos()) : reply).build();
    }

    private static CompletableFuture<List<DataStreamReplyHeaderProto>> all(
        final List<CompletableFuture<DataStreamReplyHeaderProto>> replies) {
        return CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new))
            .thenApply(done -> replies.stream().map(CompletableFuture::join).toList());
    }

    /** The log entry of the stream must follow, which takes the stream from the engine's map; otherwise it is cleaned up. */
    private void onClosed() {
        closed = true;
        timed.set(cleanUpAt(System.nanoTime() + idleTimeoutNs(), division, key, timed));
    }

    /** Refers to no session. */
    private static Runnable cleanUpAt(final long dueNs, final Division division, final ClientInvocationId stream,
        final AtomicReference<Runnable> timed) {
        return () -> {
            final long leftNs = dueNs - System.nanoTime();
            if (leftNs > 0) {
                after(TimeDuration.valueOf(leftNs, TimeUnit.NANOSECONDS), timed, stream);
            } else {
                cleanUp(division, stream);
            }
        };
    }

    private static void cleanUp(final Division division, final ClientInvocationId stream) {
        final CompletableFuture<DataStream> left = division.getDataStreamMap().remove(stream);
        if (left != null) {
            left.thenAccept(DataStream::cleanUp);
        }
    }

    private static void after(final TimeDuration delay, final AtomicReference<Runnable> timed, final ClientInvocationId stream) {
        TimeoutExecutor.getInstance().onTimeout(delay, () -> {
            final Runnable task = timed.get();
            if (task != null) {
                task.run();
            }
        }, LOG, () -> "the timer of the stream " + stream + " has failed");
    }

    private long idleTimeoutNs() {
        return server.idleTimeout().toLong(TimeUnit.NANOSECONDS);
    }

    private void checkIdle() {
        final long leftNs = idleTimeoutNs() - (System.nanoTime() - lastPacketNs);
        if (leftNs <= 0) {
            fail(new TimeoutIOException(
                "no packet in " + server.idleTimeout() + " (" + RdmaStreamConfigKeys.IDLE_TIMEOUT_KEY + ")"));
        }
        if (closed) {
            // It has been closed meanwhile: the clean-up is the next task.
            after(server.idleTimeout(), timed, key);
        } else if (failure == null) {
            after(TimeDuration.valueOf(leftNs, TimeUnit.NANOSECONDS), timed, key);
        }
    }

    /** Ends the stream, unless it has ended; does not block. */
    void fail(final Throwable reason) {
        synchronized (this) {
            if (failure != null || closed) {
                return;
            }
            failure = reason;
        }
        timed.set(null);
        server.onFailure(key, reason);
        onFailure.accept(this, reason);
        opened.completeExceptionally(reason);
        // Not while a write is running.
        writes.execute(this::end);
    }

    private void end() {
        // First, because a successor may have no room.
        cleanUp();
        try {
            // Behind the header, which may be waiting for its connections.
            forwards.execute(this::abortSuccessors);
        } catch (final RejectedExecutionException e) {
            LOG.debug("{}: closed, and so are the connections to the successors of {}", server.server().getId(), key);
        }
    }

    private void cleanUp() {
        if (registered) {
            cleanUp(division, key);
        }
    }

    private void abortSuccessors() {
        for (final StreamLink link : successors) {
            if (link.isOpen()) {
                try {
                    link.send(StreamPacket.toSend(identity, 0, Kind.ABORT, false, false, 0, Content.NONE));
                } catch (final IOException e) {
                    LOG.debug("{}: a successor is not notified of the end of {}", server.server().getId(), key, e);
                }
            }
        }
    }
}
