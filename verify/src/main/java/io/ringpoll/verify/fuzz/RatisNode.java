package io.ringpoll.verify.fuzz;

import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.internal.transport.HandlerThreads;
import io.ringpoll.internal.transport.Link;
import io.ringpoll.internal.transport.MessageType;
import io.ringpoll.internal.transport.Node;
import io.ringpoll.internal.transport.NodeConfig;
import io.ringpoll.internal.transport.PollerConfig;
import io.ringpoll.internal.transport.RequestHandler;
import io.ringpoll.internal.transport.TransportCounters;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Endpoint;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.proto.RaftProtos.ClientMessageEntryProto;
import org.apache.ratis.proto.RaftProtos.RaftClientReplyProto;
import org.apache.ratis.proto.RaftProtos.RaftClientRequestProto;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/**
 * A node of the Ratis transport that receives nearly valid input from an unknown peer; after each input it must still answer an
 * honest peer.
 *
 * <p>Used by one thread.
 */
final class RatisNode implements AutoCloseable {
    private static final int PORT = 7503;
    private static final int TIMEOUT_MS = 20_000;
    private static final int BUFFER_BYTES = 1024;
    private static final int CREDITS = 4;
    private static final int CONNECTIONS = 8;
    private static final int LONGEST_MESSAGE = 1 << 20;
    /** Room for the frames of a node until it gets credits. */
    private static final int RECEIVES = CREDITS + 2;
    private static final int MEMORY_BYTES = 4 * BUFFER_BYTES;

    private final Peer peer = Peer.ofLocal(LiveConnection.ADDRESS);
    private final LocalMemoryRegion outgoing = peer.allocate(MEMORY_BYTES, MemoryUsage.SEND);
    private final LocalMemoryRegion incoming = peer.allocate(MEMORY_BYTES, MemoryUsage.RECEIVE);
    private final ConnectionConfig sizes = ConnectionConfig.create().sqSize(1).rqSize(RECEIVES).cqSize(RECEIVES + 1);
    private final NextCompletion next = new NextCompletion();
    private final Recording recorded;
    private final Node node;
    private final Node honest;
    private final Link link;
    private int echoes;

    /**
     * The messages of an honest peer.
     *
     * @param hello  its private data
     * @param frames a short message, and the advertisement of a long one
     */
    record Recording(byte[] hello, List<byte[]> frames) {
    }

    RatisNode() {
        honest = node("honest", (type, request) -> CompletableFuture.failedFuture(new IOException("not asked for")));
        recorded = record();
        node = node("fuzzed", RatisNode::echo);
        try {
            node.listen(LiveConnection.ADDRESS, PORT);
            link = honest.connect(LiveConnection.ADDRESS, PORT, "fuzzed");
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
        requireAlive();
    }

    /** The parsed input from a peer: the private data, and frames. */
    List<FuzzTarget> targets() {
        return List.of(
            ReaderTarget.ofBytes("ratis-hello", IllegalArgumentException.class, this::takeHello, recorded.hello),
            ReaderTarget.ofBytes("ratis-frame", IllegalArgumentException.class, this::takeFrame,
                recorded.frames.toArray(byte[][]::new)));
    }

    /** Connects an unknown peer. */
    private void takeHello(final byte[] hello) {
        final boolean taken;
        try (Connection stranger = introduce(hello)) {
            taken = isEstablished(stranger);
            stranger.disconnect();
        } catch (final RpmaException tooLong) {
            throw new IllegalArgumentException(tooLong.getMessage(), tooLong);
        }
        requireAlive();
        require(taken, "a peer was turned away for its private data");
    }

    /** Connects an unknown peer with valid private data, which sends a frame. */
    private void takeFrame(final byte[] frame) {
        final boolean taken;
        try (Connection stranger = introduce(recorded.hello)) {
            if (!isEstablished(stranger)) {
                throw new AssertionError("a peer with valid private data was rejected");
            }
            for (int i = 0; i < RECEIVES; i++) {
                stranger.receive(incoming, 0, BUFFER_BYTES, 0);
            }
            final int length = Math.min(frame.length, MEMORY_BYTES);
            outgoing.memory().asByteBuffer().put(0, frame, 0, length);
            if (!stranger.send(outgoing, 0, length, CompletionFlag.ON_ERROR, 1)) {
                throw new AssertionError("a send was refused although nothing was under way");
            }
            // The honest request reaches the same handler, after the frame.
            requireAlive();
            taken = stranger.nextEvent(0).isEmpty();
            stranger.disconnect();
        }
        require(taken, "a peer's connection was ended for its frame");
    }

    private static void require(final boolean taken, final String otherwise) {
        if (!taken) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private Connection introduce(final byte[] hello) {
        try (ConnectionRequest request = peer.request(LiveConnection.ADDRESS, Integer.toString(PORT), sizes)) {
            return request.connect(hello);
        }
    }

    private static boolean isEstablished(final Connection stranger) {
        final Optional<ConnectionEvent> event = stranger.nextEvent(TIMEOUT_MS);
        if (event.isEmpty()) {
            throw new AssertionError("a peer that introduces itself is not answered");
        }
        return event.get() == ConnectionEvent.ESTABLISHED;
    }

    private void requireAlive() {
        echoes++;
        final ByteString content = content(echoes % 2 == 0 ? Integer.BYTES : 2 * BUFFER_BYTES);
        try {
            final MessageLite reply = link.request(MessageType.CLIENT_REQUEST, request(content)).future()
                .get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
            if (!((RaftClientReplyProto) reply).getMessage().getContent().equals(content)) {
                throw new AssertionError("an honest peer got another answer");
            }
        } catch (final ExecutionException | TimeoutException unanswered) {
            throw new AssertionError("an honest peer is not answered: " + unanswered, unanswered);
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(interrupted);
        }
    }

    /** Accepts an honest peer as a node would, and records its messages. */
    private Recording record() {
        try (Endpoint endpoint = peer.listen(LiveConnection.ADDRESS, Integer.toString(PORT))) {
            final CompletableFuture<Link> connecting = CompletableFuture.supplyAsync(() -> {
                try {
                    return honest.connect(LiveConnection.ADDRESS, PORT, "recorder");
                } catch (final IOException failed) {
                    throw new UncheckedIOException(failed);
                }
            });
            final ConnectionRequest request = endpoint.nextRequest(sizes, TIMEOUT_MS).orElseThrow();
            final byte[] hello = request.privateData();
            for (int i = 0; i < RECEIVES; i++) {
                request.receive(incoming, (long) i % 2 * BUFFER_BYTES, BUFFER_BYTES, i);
            }
            try (Connection recorder = request.connect(hello)) {
                final Link recording = connecting.join();
                recording.request(MessageType.CLIENT_REQUEST, request(content(Long.BYTES)));
                recording.request(MessageType.CLIENT_REQUEST, request(content(2 * BUFFER_BYTES)));
                final List<byte[]> frames = List.of(frame(recorder, 0), frame(recorder, BUFFER_BYTES));
                recorder.disconnect();
                return new Recording(hello, frames);
            }
        }
    }

    private byte[] frame(final Connection recorder, final int offset) {
        final byte[] frame = new byte[next.await(recorder).lengthBytes()];
        incoming.memory().asByteBuffer().get(offset, frame);
        return frame;
    }

    private static Node node(final String name, final RequestHandler requests) {
        final NodeConfig config = new NodeConfig(name, BUFFER_BYTES, CREDITS, CONNECTIONS, LONGEST_MESSAGE, LONGEST_MESSAGE,
            TIMEOUT_MS, TIMEOUT_MS, PollerConfig.own(HandlerThreads.ONE), false);
        return new Node(config, RdmaApi.RPMA.ofLocal(LiveConnection.ADDRESS), requests, new TransportCounters());
    }

    private static CompletableFuture<MessageLite> echo(final MessageType type, final MessageLite request) {
        return type != MessageType.CLIENT_REQUEST ? CompletableFuture.failedFuture(new IOException("not answered here")) :
            CompletableFuture.completedFuture(RaftClientReplyProto.newBuilder()
                .setMessage(((RaftClientRequestProto) request).getMessage()).build());
    }

    private static RaftClientRequestProto request(final ByteString content) {
        return RaftClientRequestProto.newBuilder()
            .setMessage(ClientMessageEntryProto.newBuilder().setContent(content)).build();
    }

    private static ByteString content(final int lengthBytes) {
        final byte[] bytes = new byte[lengthBytes];
        Arrays.fill(bytes, (byte) lengthBytes);
        return ByteString.copyFrom(bytes);
    }

    @Override
    public void close() {
        honest.close();
        node.close();
        sizes.close();
        incoming.close();
        outgoing.close();
        peer.close();
    }
}
