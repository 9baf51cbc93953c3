package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;

/** A client that follows the protocol only as far as the test makes it. */
final class RawClient implements AutoCloseable {
    static final Hello HELLO = new Hello(8, 256, new byte[0]);
    private static final int QUEUE_SIZE = 64;
    private static final int BUFFER_BYTES = 1024;
    static final int TIMEOUT_MS = 40_000;

    private final Peer peer = Peer.ofLocal(TestDevice.address());
    private final LocalMemoryRegion memory =
        peer.allocate((long) QUEUE_SIZE * BUFFER_BYTES, MemoryUsage.SEND, MemoryUsage.RECEIVE);
    private final Connection connection;
    private ConnectionEvent event;

    RawClient(final int port, final byte[] hello) {
        this(port, hello, true);
    }

    /** Requests a connection, and fetches the answer now or with {@link #fetchEvent()}: the server then knows of it. */
    RawClient(final int port, final byte[] hello, final boolean fetches) {
        try (ConnectionConfig config = ConnectionConfig.create().sqSize(QUEUE_SIZE).rqSize(QUEUE_SIZE).cqSize(2 * QUEUE_SIZE);
            ConnectionRequest request = peer.request(TestDevice.address(), Integer.toString(port), config)) {
            for (int i = 0; i < QUEUE_SIZE; i++) {
                assertTrue(request.receive(memory, (long) i * BUFFER_BYTES, BUFFER_BYTES, i));
            }
            connection = request.connect(hello);
        }
        if (fetches) {
            fetchEvent();
        }
    }

    void fetchEvent() {
        event = connection.nextEvent(TIMEOUT_MS).orElseThrow();
    }

    /** Whether the server has accepted the connection. */
    boolean isEstablished() {
        return event == ConnectionEvent.ESTABLISHED;
    }

    Connection connection() {
        return connection;
    }

    void send(final int length, final int immediate) {
        assertTrue(connection.sendWithImmediate(length == 0 ? null : memory, 0, length, CompletionFlag.ALWAYS, immediate, 0));
    }

    void sendWithoutImmediate() {
        assertTrue(connection.send(memory, 0, 1, CompletionFlag.ALWAYS, 0));
    }

    /** Polls a number of completions; false if there are not as many in a time. */
    boolean awaitCompletions(final int number, final int timeoutMs) {
        final long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        try (Arena arena = Arena.ofConfined()) {
            final UnsafeBuffer slab = new UnsafeBuffer(arena.allocate(IbvWc.SIZE_BYTES, Long.BYTES).asByteBuffer());
            final WorkCompletions record = WorkCompletions.in(slab, 0, 1);
            int polled = 0;
            while (polled < number && System.nanoTime() < deadlineNs) {
                polled += connection.completionQueue().poll(record, 0, 1);
            }
            return polled == number;
        }
    }

    /** The kind of the next message, within a second; -1 if there is none. */
    int nextKind() {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        final WorkCompletions records = WorkCompletions.allocate(1);
        while (System.nanoTime() < deadlineNs) {
            if (connection.completionQueue().poll(records, 0, 1) > 0) {
                final WorkCompletion received = records.show(0, new WorkCompletion());
                return received.isSuccess() && received.hasImmediate() ? Immediate.kind(received.immediate()) : -1;
            }
        }
        return -1;
    }

    /** Ends without a goodbye, as a process that is killed. */
    @Override
    public void close() {
        connection.close();
        memory.close();
        peer.close();
    }
}
