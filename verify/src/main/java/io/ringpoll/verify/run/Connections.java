package io.ringpoll.verify.run;

import io.ringpoll.internal.connections.FirstEvent;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.ConnectionConfig;
import io.ringpoll.rpma.ConnectionEvent;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Connection steps of both sides of the main job; every wait is bounded.
 *
 * <p>Stateless.
 */
final class Connections {
    private static final int EVENT_TIMEOUT_MS = 10_000;
    private static final int WATCH_TIMEOUT_MS = 100;
    private static final long AWAIT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    /** Offset of the length in the descriptor of a region: after the 8 bytes of its address. */
    private static final int DESCRIPTOR_LENGTH_OFFSET = 8;

    private Connections() {
    }

    /** Queue sizes of the server side, which posts receives only. */
    static ConnectionConfig serverConfig(final RunConfig config) {
        return ConnectionConfig.create().sqSize(1).rqSize(config.depth()).cqSize(2).rcqSize(config.depth());
    }

    /** Queue sizes of the client side: work requests in flight can never overrun the completion queue. */
    static ConnectionConfig clientConfig(final RunConfig config) {
        return ConnectionConfig.create().sqSize(config.depth()).rqSize(config.depth()).cqSize(2 * config.depth());
    }

    /** Waits until the connection is established. */
    static void awaitEstablished(final Connection connection) {
        FirstEvent.awaitEstablished(connection, EVENT_TIMEOUT_MS);
    }

    /** Waits until the connection is established; false if the peer has gone before. */
    static boolean awaitEstablishedOrGone(final Connection connection) {
        return FirstEvent.await(connection, EVENT_TIMEOUT_MS) == ConnectionEvent.ESTABLISHED;
    }

    /** Waits until the peer has disconnected, or the wait is cancelled. */
    static void awaitEnd(final Connection connection, final BooleanSupplier abandoned) {
        while (!abandoned.getAsBoolean()) {
            if (connection.nextEvent(WATCH_TIMEOUT_MS).isPresent()) {
                return;
            }
        }
    }

    /** Waits for a condition, 10 seconds at most; false if it did not become true. */
    static boolean await(final BooleanSupplier condition) {
        return Deadline.after(AWAIT_TIMEOUT_NS).await(condition);
    }

    /** A descriptor with twice the length of its region, so that librpma permits an operation beyond its end. */
    static byte[] withDoubleLength(final byte[] descriptor) {
        final byte[] changed = descriptor.clone();
        final UnsafeBuffer buffer = new UnsafeBuffer(changed);
        final long length = buffer.getLong(DESCRIPTOR_LENGTH_OFFSET, ByteOrder.LITTLE_ENDIAN);
        buffer.putLong(DESCRIPTOR_LENGTH_OFFSET, 2 * length, ByteOrder.LITTLE_ENDIAN);
        return changed;
    }
}
