package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler that spins, yields, then sleeps for moments; nobody signals it.
 *
 * <p>Unlike the Disruptor's strategy of this kind it does not spin while its thread is interrupted.
 */
final class SleepingWait implements WaitStrategy {
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
                // A park returns at once while the flag is set.
                Thread.interrupted();
            }
            available = dependent.get();
        }
        return available;
    }

    @Override
    public void signalAllWhenBlocking() {
        // It looks by itself.
    }
}
