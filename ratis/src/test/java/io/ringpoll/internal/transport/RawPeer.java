package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.protobuf.MessageLite;

/** A peer that is not a node: it sends a valid hello and then the frames of the test. */
final class RawPeer implements AutoCloseable {
    private static final int RECEIVES = 30;
    private static final int SENDS = 30;
    private static final int RECEIVE_ID = 1000;

    private final Completions completions = new Completions();
    private final Peer peer = Peer.ofRemote(TestDevice.address());
    private final LocalMemoryRegion memory =
        peer.allocate((RECEIVES + SENDS) * Nodes.BUFFER_BYTES, MemoryUsage.SEND, MemoryUsage.RECEIVE);
    private final Connection connection;
    private int sent;

    RawPeer(final int port, final int credits) {
        this(port, new Hello(credits, Nodes.BUFFER_BYTES));
    }

    RawPeer(final int port, final Hello hello) {
        try (ConnectionConfig config = ConnectionConfig.create().sqSize(100).cqSize(200).rqSize(RECEIVES)) {
            connection = peer.request(TestDevice.address(), Integer.toString(port), config)
                .connect(hello.bytes());
        }
        assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
        for (int i = 0; i < RECEIVES; i++) {
            post(i);
        }
    }

    private void post(final int slot) {
        assertTrue(connection.receive(memory, slot * Nodes.BUFFER_BYTES, Nodes.BUFFER_BYTES, RECEIVE_ID + slot));
    }

    Peer peer() {
        return peer;
    }

    /** Sends a request with the message in the frame. */
    void request(final long correlationId, final MessageLite message) {
        final byte[] payload = message.toByteArray();
        send(new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, correlationId, payload.length,
            payload.length), payload);
    }

    /** Sends a client's request with a message to be read from this side's memory. */
    void advertise(final long correlationId, final int messageLength, final Advertisement advertisement) {
        advertise(MessageType.CLIENT_REQUEST, correlationId, messageLength, advertisement);
    }

    /** Sends a request of any type with a message to be read from this side's memory. */
    void advertise(
        final MessageType type, final long correlationId, final int messageLength, final Advertisement advertisement) {
        final ByteBuffer frame = ByteBuffer.allocate(Nodes.BUFFER_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        advertisement.write(frame);
        final byte[] payload = new byte[advertisement.lengthBytes()];
        frame.get(FrameHeader.LENGTH_BYTES, payload);
        send(new FrameHeader(FrameKind.REQUEST, type.code(), FrameHeader.FLAG_RENDEZVOUS, 0, correlationId, payload.length,
            messageLength), payload);
    }

    /** Sends bytes that need not be a frame, in one message. */
    void send(final byte[] bytes) {
        final int offset = (RECEIVES + sent++ % SENDS) * Nodes.BUFFER_BYTES;
        memory.memory().asByteBuffer().put(offset, bytes);
        assertTrue(connection.send(memory, offset, bytes.length, CompletionFlag.ON_ERROR, 1));
    }

    /** Returns credits to the node. */
    void returnCredits(final int credits) {
        send(new FrameHeader(FrameKind.CREDIT, (byte) 0, (byte) 0, credits, 0, 0, 0), new byte[0]);
    }

    /** Sends a message of any kind and type. */
    void message(final byte kind, final MessageType type, final MessageLite message) {
        final byte[] payload = message.toByteArray();
        send(new FrameHeader(kind, type.code(), (byte) 0, 0, 1, payload.length, payload.length), payload);
    }

    /** The node's hello. */
    Hello hello() throws ProtocolException {
        return Hello.of(connection.privateData());
    }

    /** Asks the node for a sign of life. */
    void ping() {
        send(new FrameHeader(FrameKind.PING, (byte) 0, (byte) 0, 0, 0, 0, 0), new byte[0]);
    }

    /** The next event of the connection. */
    ConnectionEvent awaitEvent() {
        return connection.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow();
    }

    /** Sends a frame. */
    void frame(final FrameHeader header, final byte[] payload) {
        send(header, payload);
    }

    private void send(final FrameHeader header, final byte[] payload) {
        final int offset = (RECEIVES + sent++ % SENDS) * Nodes.BUFFER_BYTES;
        final ByteBuffer frame = memory.memory().asByteBuffer().slice(offset, Nodes.BUFFER_BYTES);
        header.write(frame);
        frame.put(FrameHeader.LENGTH_BYTES, payload);
        assertTrue(connection.send(memory, offset, FrameHeader.LENGTH_BYTES + payload.length, CompletionFlag.ON_ERROR, 1));
    }

    /** The next frame from the node that costs a credit; its receive is reposted. */
    Incoming next() throws ProtocolException {
        while (true) {
            final Incoming frame = nextOfAnyKind();
            if (!FrameKind.isFree(frame.header().kind())) {
                return frame;
            }
        }
    }

    /** Returns the memory of a reply, without a credit for requests. */
    void release(final int number) {
        send(new FrameHeader(FrameKind.RELEASE, (byte) 0, FrameHeader.FLAG_URGENT, 0, number, 0, 0), new byte[0]);
    }

    /** The next frame from the node; its receive is reposted. */
    Incoming nextOfAnyKind() throws ProtocolException {
        return received(completions.awaitOne(connection.completionQueue()));
    }

    /** As {@link #nextOfAnyKind}; empty if there is none in time. */
    Optional<Incoming> poll(final int timeoutMs) throws ProtocolException, InterruptedException {
        final long startNs = System.nanoTime();
        while (connection.completionQueue().poll(completions.records(), 0, 1) == 0) {
            if (System.nanoTime() - startNs > TimeUnit.MILLISECONDS.toNanos(timeoutMs)) {
                return Optional.empty();
            }
            TimeUnit.MILLISECONDS.sleep(1);
        }
        return Optional.of(received(completions.at(0)));
    }

    private Incoming received(final WorkCompletion completion) throws ProtocolException {
        assertEquals(WcStatus.SUCCESS, completion.status());
        final int slot = (int) completion.workRequestId() - RECEIVE_ID;
        final ByteBuffer bytes = memory.memory().asByteBuffer().slice(slot * Nodes.BUFFER_BYTES, completion.lengthBytes());
        final Incoming frame = Incoming.decode(bytes, Nodes.MAX_MESSAGE_BYTES);
        post(slot);
        return frame;
    }

    @Override
    public void close() {
        connection.disconnect();
        connection.close();
        memory.close();
        peer.close();
    }
}
