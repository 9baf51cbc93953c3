package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.PollerLoop;
import java.util.List;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.NanoClock;

/**
 * Calls {@code onIdle} of handlers on the polling thread when rounds were empty for their time-outs. The clock is read after
 * empty rounds only.
 *
 * <p>Belongs to the polling thread.
 */
final class IdleCalls {
    /** A spinning poller makes more rounds than the clock is worth reading. */
    private static final int ROUNDS_PER_CLOCK_READ = 16;

    private final InPlaceHandler[] handlers;
    private final long[] sinceNs;
    private final NanoClock clock;
    private boolean idle;
    private int rounds;

    /** Creates the calls of the handlers with a time-out. */
    IdleCalls(final List<InPlaceHandler> handlers, final NanoClock clock) {
        this.handlers = handlers.toArray(new InPlaceHandler[0]);
        this.sinceNs = new long[handlers.size()];
        this.clock = clock;
    }

    /** The shortest time-out, in nanoseconds. */
    long shortestNs() {
        long shortestNs = Long.MAX_VALUE;
        for (final InPlaceHandler handler : handlers) {
            shortestNs = Math.min(shortestNs, handler.idleTimeoutNs());
        }
        return shortestNs;
    }

    /** An idle strategy that also makes the calls. */
    IdleStrategy with(final IdleStrategy strategy) {
        final int mask = PollerLoop.isSpinning(strategy) ? ROUNDS_PER_CLOCK_READ - 1 : 0;
        return new IdleStrategy() {
            @Override
            public void idle(final int workCount) {
                // Before the strategy: a handler may post, and an event-driven poller then sleeps with its queues armed.
                if (workCount > 0 || (++rounds & mask) == 0) {
                    onRound(workCount);
                }
                strategy.idle(workCount);
            }

            @Override
            public void idle() {
                idle(0);
            }

            @Override
            public void reset() {
                strategy.reset();
            }

            @Override
            public String alias() {
                return strategy.alias();
            }
        };
    }

    /** Notes a round, and makes the calls that are due. */
    void onRound(final int workCount) {
        if (workCount > 0) {
            idle = false;
        } else {
            onEmptyRound(clock.nanoTime());
        }
    }

    private void onEmptyRound(final long nowNs) {
        for (int i = 0; i < handlers.length; i++) {
            if (!idle) {
                sinceNs[i] = nowNs;
            } else if (nowNs - sinceNs[i] >= handlers[i].idleTimeoutNs()) {
                sinceNs[i] = nowNs;
                handlers[i].onIdle();
            }
        }
        idle = true;
    }
}
