package io.ringpoll.ratis;

import io.ringpoll.internal.transport.StreamPacket;
import io.ringpoll.internal.transport.StreamPacket.Content;
import io.ringpoll.internal.transport.StreamPacket.Identity;
import io.ringpoll.internal.transport.StreamPacket.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.ratis.client.DataStreamClientRpc;
import org.apache.ratis.client.impl.ClientProtoUtils;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.datastream.impl.DataStreamReplyByteBuffer;
import org.apache.ratis.datastream.impl.DataStreamRequestByteBuf;
import org.apache.ratis.datastream.impl.DataStreamRequestByteBuffer;
import org.apache.ratis.datastream.impl.DataStreamRequestFilePositionCount;
import org.apache.ratis.io.FilePositionCount;
import org.apache.ratis.io.StandardWriteOption;
import org.apache.ratis.proto.RaftProtos.DataStreamPacketHeaderProto.Type;
import org.apache.ratis.proto.RaftProtos.DataStreamReplyHeaderProto;
import org.apache.ratis.protocol.DataStreamReply;
import org.apache.ratis.protocol.DataStreamRequest;
import org.apache.ratis.protocol.RaftClientReply;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.exceptions.AlreadyClosedException;
import org.apache.ratis.protocol.exceptions.DataStreamException;
import org.apache.ratis.protocol.exceptions.TimeoutIOException;
import org.apache.ratis.thirdparty.io.netty.buffer.ByteBuf;
import org.apache.ratis.util.JavaUtils;

/**
 * Sends the streams of a client to their primary server, over a connection of its own. Long writes are divided into packets,
 * which are copied to registered memory by the writer's thread; it waits while the window is full. Replies complete on a thread
 * of this object, on which dependent actions may wait, except for replies of streams of the same client. Thread-safe.
 */
final class RdmaDataStreamClientRpc implements DataStreamClientRpc {
    private static final long IDLE_THREAD_S = 10;

    private final RaftPeer primary;
    private final RaftGroupId group;
    private final RdmaProxyMap servers;
    private final BooleanSupplier isHandlerThread;
    private final RaftProperties properties;
    private final ByteWindow window;
    private final int packetBytes;
    private final ExecutorService callbacks;

    /**
     * Creates the connection when the first stream is opened.
     *
     * @param primary         receives the streams
     * @param group           of the streams
     * @param servers         connects; closed with this object
     * @param isHandlerThread whether the calling thread must not wait
     */
    RdmaDataStreamClientRpc(final RaftPeer primary, final RaftGroupId group, final RdmaProxyMap servers,
        final BooleanSupplier isHandlerThread, final RaftProperties properties) {
        this.primary = primary;
        this.group = group;
        this.servers = servers;
        this.isHandlerThread = isHandlerThread;
        this.properties = properties;
        window = new ByteWindow(RdmaStreamConfigKeys.window(properties).getSize());
        packetBytes = RdmaStreamConfigKeys.packetSize(properties).getSizeInt();
        final ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, IDLE_THREAD_S, TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(), Thread.ofPlatform().daemon().name(servers.getName() + "-replies").factory());
        thread.allowCoreThreadTimeOut(true);
        callbacks = thread;
    }

    /** The data of a request. */
    @FunctionalInterface
    private interface Source {
        /** The part of the data that begins at a position, in bytes: that of a file may be longer than 2 GiB. */
        Content from(long position);
    }

    /** Sends a packet, as {@link StreamLink#send}. */
    @FunctionalInterface
    interface Sender {
        CompletableFuture<DataStreamReplyHeaderProto> send(StreamPacket packet) throws IOException;
    }

    @Override
    public CompletableFuture<DataStreamReply> streamAsync(final DataStreamRequest request) {
        final CompletableFuture<DataStreamReply> result = new CompletableFuture<>();
        send(request).whenComplete((bytes, failure) -> complete(() -> {
            final Throwable cause = failure == null ? null : JavaUtils.unwrapCompletionException(failure);
            if (cause == null) {
                result.complete(reply(request, bytes));
            } else if (cause instanceof final DataStreamException refusal) {
                // The server has replied: as with the engine's transport, this is not an exception.
                result.complete(failed(request, refusal));
            } else if (request.getType() == Type.STREAM_HEADER) {
                // The engine's client sends the writes behind a header after its reply only: after an exception, they would wait
                // for ever.
                result.complete(failed(request, new DataStreamException(primary.getId() + ": " + cause.getMessage())));
            } else {
                result.completeExceptionally(cause instanceof TimeoutException ?
                    new TimeoutIOException(request + " had no reply from " + primary.getId(), cause) : cause);
            }
        }));
        return result;
    }

    private void complete(final Runnable completion) {
        try {
            callbacks.execute(completion);
        } catch (final RejectedExecutionException e) {
            // Closed: no packet will be sent any more.
            completion.run();
        }
    }

    private CompletableFuture<List<DataStreamReplyHeaderProto>> send(final DataStreamRequest request) {
        final DataStreamRequestByteBuf counted = request instanceof final DataStreamRequestByteBuf buffer ? buffer : null;
        try {
            if (isHandlerThread.getAsBoolean()) {
                throw new IllegalStateException("a callback on the thread that receives replies cannot write to a stream");
            }
            final boolean isHeader = request.getType() == Type.STREAM_HEADER;
            // A header is one packet.
            return all(sendPackets(request, isHeader ? Integer.MAX_VALUE : packetBytes, link(isHeader)::send));
        } catch (final IOException | RuntimeException e) {
            return JavaUtils.completeExceptionally(e);
        } finally {
            if (counted != null) {
                counted.release();
            }
        }
    }

    /**
     * Sends the data of a request in packets.
     *
     * @param most   maximum length of the data of a packet
     * @param sender sends them, in order
     */
    static List<CompletableFuture<DataStreamReplyHeaderProto>> sendPackets(
        final DataStreamRequest request, final int most, final Sender sender) throws IOException {
        if (request instanceof final DataStreamRequestFilePositionCount file) {
            final FilePositionCount part = file.getFile();
            try (FileChannel channel = FileChannel.open(part.getFile().toPath(), StandardOpenOption.READ)) {
                final Source source = position -> target -> read(channel, part.getPosition() + position, target);
                return sendPackets(request, source, most, sender);
            }
        }
        final ByteBuffer data = switch (request) {
            case final DataStreamRequestByteBuffer buffer -> buffer.slice();
            case final DataStreamRequestByteBuf buffer -> contiguous(buffer.slice());
            default -> throw new IOException("data of " + request.getClass());
        };
        final Source source = position -> target -> target.put(data.slice((int) position, target.remaining()));
        return sendPackets(request, source, most, sender);
    }

    private static ByteBuffer contiguous(final ByteBuf buffer) {
        return buffer.nioBuffer();
    }

    private static void read(final FileChannel channel, final long position, final ByteBuffer target) throws IOException {
        long from = position;
        while (target.hasRemaining()) {
            final int read = channel.read(target, from);
            if (read < 0) {
                throw new EOFException("the file ends at " + from);
            }
            from += read;
        }
    }

    private static List<CompletableFuture<DataStreamReplyHeaderProto>> sendPackets(
        final DataStreamRequest request, final Source source, final int most, final Sender sender) throws IOException {
        final boolean isHeader = request.getType() == Type.STREAM_HEADER;
        final Identity identity = new Identity(request.getClientId().getUuid(), request.getStreamId());
        final boolean sync = request.getWriteOptionList().contains(StandardWriteOption.SYNC);
        final boolean close = request.getWriteOptionList().contains(StandardWriteOption.CLOSE);
        final long length = request.getDataLength();
        final List<CompletableFuture<DataStreamReplyHeaderProto>> replies = new ArrayList<>();
        long position = 0;
        do {
            final int bytes = (int) Math.min(most, length - position);
            final boolean last = position + bytes == length;
            replies.add(sender.send(StreamPacket.toSend(identity, request.getStreamOffset() + position,
                isHeader ? Kind.HEADER : Kind.DATA, sync && last, close && last, bytes, source.from(position))));
            position += bytes;
        } while (position < length);
        return replies;
    }

    /** The connection; a new stream gets a new one if the previous one has ended. */
    private StreamLink link(final boolean reconnect) throws IOException {
        RdmaProxy proxy = servers.computeIfAbsent(primary).get();
        if (!proxy.isOpen()) {
            if (!reconnect) {
                throw new AlreadyClosedException("the connection of the stream to " + primary.getId() + " has ended");
            }
            servers.resetProxy(primary.getId());
            proxy = servers.computeIfAbsent(primary).get();
        }
        return new StreamLink(proxy, window, properties);
    }

    private static CompletableFuture<List<DataStreamReplyHeaderProto>> all(
        final List<CompletableFuture<DataStreamReplyHeaderProto>> replies) {
        return CompletableFuture.allOf(replies.toArray(CompletableFuture[]::new))
            .thenApply(done -> replies.stream().map(CompletableFuture::join).toList());
    }

    private static DataStreamReply reply(final DataStreamRequest request, final List<DataStreamReplyHeaderProto> packets) {
        return DataStreamReplyByteBuffer.newBuilder().setDataStreamPacket(request)
            .setSuccess(packets.stream().allMatch(DataStreamReplyHeaderProto::getSuccess))
            .setBytesWritten(packets.stream().mapToLong(DataStreamReplyHeaderProto::getBytesWritten).sum())
            .setCommitInfos(packets.getLast().getCommitInfosList()).build();
    }

    private DataStreamReply failed(final DataStreamRequest request, final DataStreamException cause) {
        final RaftClientReply reply = RaftClientReply.newBuilder().setClientId(request.getClientId())
            .setServerId(primary.getId()).setGroupId(group).setCallId(request.getStreamId())
            .setException(cause).build();
        return DataStreamReplyByteBuffer.newBuilder().setDataStreamPacket(request)
            .setBuffer(ClientProtoUtils.toRaftClientReplyProto(reply).toByteString().asReadOnlyByteBuffer())
            .setSuccess(false).build();
    }

    @Override
    public void close() {
        servers.close();
        callbacks.shutdown();
    }
}
