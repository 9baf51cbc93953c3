package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assertions.fail;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Reads of a long message by a peer after the peer has released it. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RemoteKeyTest {
    private static final int FRAME_BYTES = 4096;
    private static final int MESSAGE_BYTES = 10_000;
    /** One packet: on Soft-RoCE a read may not complete if its memory is deregistered between two. */
    private static final int READ_BYTES = 1_000;
    private static final int READS = 20;
    /** Enough credits that no credit frame is sent. */
    private static final int CREDITS = 32;

    private final Completions completions = new Completions();

    @Test
    void shouldInvalidateTheRemoteKeyAfterTheMessageWithoutCache() throws Exception {
        try (Session session = new Session(0)) {
            session.release();
            final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
            int status;
            do {
                // The release may not have been processed yet.
                status = session.read();
                if (System.nanoTime() - deadlineNs > 0) {
                    fail("the region can still be read");
                }
            } while (status == WcStatus.SUCCESS);
            assertEquals(WcStatus.REM_ACCESS_ERR, status);
        }
    }

    @Test
    void shouldKeepTheRemoteKeyValidWhileTheRegionIsCached() throws Exception {
        try (Session session = new Session(1 << 20)) {
            session.release();
            for (int i = 0; i < READS; i++) {
                assertEquals(WcStatus.SUCCESS, session.read());
            }
        }
    }

    /** A peer of a node that replies with a long message, until the peer has read the message once. */
    private final class Session implements AutoCloseable {
        private final Node node;
        private final Peer peer = Peer.ofRemote(TestDevice.address());
        private final LocalMemoryRegion frames = peer.allocate(2 * FRAME_BYTES, MemoryUsage.SEND, MemoryUsage.RECEIVE);
        private final LocalMemoryRegion landing = peer.allocate(MESSAGE_BYTES, MemoryUsage.READ_DESTINATION);
        private final Connection connection;
        private final Advertisement advertisement;
        private final RemoteMemoryRegion remote;

        private Session(final int cachedBytes) throws Exception {
            final NodeConfig config = new NodeConfig("server", Nodes.BUFFER_BYTES, CREDITS, 8, Nodes.MAX_MESSAGE_BYTES,
                cachedBytes, ConnectedPair.TIMEOUT_MS, Nodes.CLOSE_MS, PollerConfig.own(HandlerThreads.POLLER), false);
            final ByteString content = Nodes.random(MESSAGE_BYTES - 100);
            node = new Node(config, RdmaApi.RPMA.ofLocal(TestDevice.address()),
                (type, request) -> Nodes.echo(type, Nodes.request(content)), new TransportCounters());
            final String port = ConnectedPair.anyPort();
            node.listen(TestDevice.address(), Integer.parseInt(port));
            try (ConnectionConfig sizes = ConnectionConfig.create().sqSize(10).cqSize(20).rqSize(4)) {
                connection = peer.request(TestDevice.address(), port, sizes)
                    .connect(new Hello(CREDITS, Nodes.BUFFER_BYTES).bytes());
            }
            assertEquals(Optional.of(ConnectionEvent.ESTABLISHED), connection.nextEvent(ConnectedPair.TIMEOUT_MS));
            assertTrue(connection.receive(frames, FRAME_BYTES, Nodes.BUFFER_BYTES, 0));
            send(new FrameHeader(FrameKind.REQUEST, MessageType.CLIENT_REQUEST.code(), (byte) 0, 0, 1, 0, 0));
            final int length = completions.awaitOne(connection.completionQueue()).lengthBytes();
            final ByteBuffer frame = frames.memory().asByteBuffer().slice(FRAME_BYTES, length);
            advertisement = Advertisement.read(frame, FrameHeader.read(frame, Nodes.MAX_MESSAGE_BYTES));
            remote = RemoteMemoryRegion.ofDescriptor(advertisement.descriptor());
            assertEquals(WcStatus.SUCCESS, read());
        }

        private void send(final FrameHeader header) {
            header.write(frames.memory().asByteBuffer());
            assertTrue(connection.send(frames, 0, FrameHeader.LENGTH_BYTES, CompletionFlag.ON_ERROR, 1));
        }

        private void release() {
            send(new FrameHeader(FrameKind.RELEASE, (byte) 0, (byte) 0, 0, advertisement.number(), 0, 0));
        }

        private int read() {
            assertTrue(connection.read(landing, 0, remote, advertisement.offset(), READ_BYTES, CompletionFlag.ALWAYS, 2));
            return completions.awaitOne(connection.completionQueue()).status();
        }

        @Override
        public void close() {
            connection.disconnect();
            remote.close();
            connection.close();
            frames.close();
            landing.close();
            peer.close();
            node.close();
        }
    }
}
