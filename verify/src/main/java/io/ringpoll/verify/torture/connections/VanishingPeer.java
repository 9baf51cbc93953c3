package io.ringpoll.verify.torture.connections;

import io.ringpoll.completion.RdmaException;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import io.ringpoll.internal.rc.RcMemory;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.internal.rc.RcUsage;
import io.ringpoll.internal.rc.RdmaApi;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A client that is not a set: it sends a few messages, or none, never returns a credit, and ends without a goodbye, as a process
 * that is killed. Used by one thread.
 */
final class VanishingPeer implements AutoCloseable {
    private static final byte[] NAME = "vanishing".getBytes(StandardCharsets.US_ASCII);
    /** The begin of a hello: magic number and version of the protocol. */
    private static final byte[] PROTOCOL = {0x72, 0x70, 0x6D, 0x73, 1};
    private static final int HELLO_BYTES = 12;
    private static final int QUEUE_SIZE = 64;
    private static final int BUFFER_BYTES = 64;
    private static final int WINDOW = 4;
    private static final int TIMEOUT_MS = 10_000;

    private final RcPeer peer;
    private RcMemory memory;
    private RcConnection connection;

    VanishingPeer(final RdmaApi api, final String address) {
        peer = api.ofLocal(address);
    }

    /** Whether private data is that of a vanishing peer. */
    static boolean isIt(final byte[] privateData) {
        return Arrays.equals(NAME, privateData);
    }

    /** Connects and sends; returns without effect if the server rejects it or a fault hits it. */
    void play(final String address, final int port, final SplittableRandom random) {
        memory = peer.allocate((long) QUEUE_SIZE * BUFFER_BYTES, RcUsage.SEND, RcUsage.RECEIVE);
        try (RcRequest request = peer.request(address, port, RcConfig.of(QUEUE_SIZE, QUEUE_SIZE, 2 * QUEUE_SIZE))) {
            for (int i = 0; i < QUEUE_SIZE; i++) {
                request.receive(memory, (long) i * BUFFER_BYTES, BUFFER_BYTES, i);
            }
            connection = request.connect(hello());
        }
        // Some vanish before the answer.
        if (random.nextInt(4) != 0 && connection.nextEvent(TIMEOUT_MS).orElse(null) == RcEvent.ESTABLISHED) {
            for (int messages = random.nextInt(2); messages > 0; messages--) {
                connection.sendWithImmediate(memory, 0, 1 + random.nextInt(BUFFER_BYTES / 4), true, 0, 0);
            }
        }
    }

    private static byte[] hello() {
        return ByteBuffer.allocate(HELLO_BYTES + NAME.length).put(PROTOCOL).put((byte) NAME.length).putShort((short) WINDOW)
            .putInt(BUFFER_BYTES).put(NAME).array();
    }

    @Override
    public void close() throws RdmaException {
        if (connection != null) {
            connection.close();
        }
        if (memory != null) {
            memory.close();
        }
        peer.close();
    }
}
