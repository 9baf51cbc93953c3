package io.ringpoll.verify.run;

import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcConnection;
import io.ringpoll.internal.rc.RcEvent;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * RcConnection steps of both sides of the main job; every wait is bounded.
 *
 * <p>Stateless.
 */
final class Connections {
    private static final int EVENT_TIMEOUT_MS = 10_000;
    private static final int WATCH_TIMEOUT_MS = 100;
    private static final long AWAIT_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private Connections() {
    }

    /** Queue sizes of the server side, which posts receives only. */
    static RcConfig serverConfig(final RunConfig config) {
        return RcConfig.of(1, config.depth(), 2).withReceiveQueue(config.depth());
    }

    /** Queue sizes of the client side: work requests in flight can never overrun the completion queue. */
    static RcConfig clientConfig(final RunConfig config) {
        return RcConfig.of(config.depth(), config.depth(), 2 * config.depth());
    }

    /** Waits until the connection is established. */
    static void awaitEstablished(final RcConnection connection) {
        connection.awaitEstablished(EVENT_TIMEOUT_MS);
    }

    /** Waits until the connection is established; false if the peer has gone before. */
    static boolean awaitEstablishedOrGone(final RcConnection connection) {
        return connection.firstEvent(EVENT_TIMEOUT_MS) == RcEvent.ESTABLISHED;
    }

    /** Waits until the peer has disconnected, or the wait is cancelled. */
    static void awaitEnd(final RcConnection connection, final BooleanSupplier abandoned) {
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
}
