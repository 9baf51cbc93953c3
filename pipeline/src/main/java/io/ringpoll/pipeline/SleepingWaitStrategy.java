package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.util.concurrent.locks.LockSupport;

/**
 * Spins, yields, then sleeps for short periods; needs no signal.
 *
 * <p>Unlike the Disruptor's sleeping strategy it does not spin while its thread is interrupted.
 */
final class SleepingWaitStrategy implements WaitStrategy {
    private static final int SPINS = 100;
    private static final int YIELDS = 100;
    private static final long SLEEP_NS = 20_000;

    @Override
    public long waitFor(
        final long sequence, final Sequence cursor, final Sequence dependent, final SequenceBarrier barrier)
        throws AlertException {
        int turns = 0;
        long available = dependent.get();
        while (available < sequence) {
            barrier.checkAlert();
            if (turns < SPINS) {
                turns++;
                Thread.onSpinWait();
            } else if (turns < SPINS + YIELDS) {
                turns++;
                Thread.yield();
            } else {
                LockSupport.parkNanos(this, SLEEP_NS);
                // parkNanos returns immediately while the interrupt flag is set.
                Thread.interrupted();
            }
            available = dependent.get();
        }
        return available;
    }

    @Override
    public void signalAllWhenBlocking() {
        // Needs no signal.
    }
}
