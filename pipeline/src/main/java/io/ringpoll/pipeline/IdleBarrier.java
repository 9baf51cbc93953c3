package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.TimeoutException;
import com.lmax.disruptor.WaitStrategy;
import org.agrona.concurrent.NanoClock;

/**
 * A barrier that ends a wait after a time without slots. The clock is read while the wait strategy waits, not if a slot is
 * available.
 *
 * <p>Belongs to the handler's thread, except {@link #alert()}.
 */
final class IdleBarrier extends HandlerBarrier {
    /** A spinning wait checks this barrier more often than the clock is worth reading. */
    private static final int SPINS_PER_CLOCK_READ = 16;

    private final long timeoutNs;
    private final int clockMask;
    private final NanoClock clock;
    private int checks;
    /** Whether a check has found no slot since the begin of the wait. */
    private boolean idle;
    private long sinceNs;
    private boolean expired;

    IdleBarrier(
        final Sequence cursor, final Sequence dependent, final WaitStrategy waitStrategy, final HandlerConfig config,
        final NanoClock clock) {
        super(cursor, dependent, waitStrategy);
        this.timeoutNs = config.idleTimeoutNs();
        this.clockMask = config.spins() ? SPINS_PER_CLOCK_READ - 1 : 0;
        this.clock = clock;
    }

    @Override
    public long waitFor(final long sequence) throws AlertException, InterruptedException, TimeoutException {
        idle = false;
        try {
            return super.waitFor(sequence);
        } catch (final AlertException ended) {
            if (expired) {
                expired = false;
                throw TimeoutException.INSTANCE;
            }
            throw ended;
        }
    }

    @Override
    public void checkAlert() throws AlertException {
        super.checkAlert();
        if (!idle) {
            idle = true;
            sinceNs = clock.nanoTime();
        } else if ((++checks & clockMask) == 0 && clock.nanoTime() - sinceNs >= timeoutNs) {
            expired = true;
            throw AlertException.INSTANCE;
        }
    }
}
