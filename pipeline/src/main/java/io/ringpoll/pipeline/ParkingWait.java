package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * A handler that parks until it is woken: lightest on the core.
 *
 * <p>For one handler. Unlike the Disruptor's blocking strategies the one who signals takes no lock: it pays a fence at each
 * publication, and a call into the kernel only if the handler has parked.
 */
final class ParkingWait implements WaitStrategy {
    private static final int SPINS = 100;
    /**
     * The longest park. No wake-up is lost; the bound is there in case one is, after all. Tests set the system property to a time
     * that would not hide it.
     */
    private static final long PARK_NS = Long.getLong("ringpoll.park.bound.ns", 100_000_000);

    private volatile Thread waiter;

    @Override
    public long waitFor(
        final long sequence, final Sequence cursor, final Sequence dependent, final SequenceBarrier barrier)
        throws AlertException {
        for (int i = 0; i < SPINS; i++) {
            final long available = dependent.get();
            if (available >= sequence) {
                return available;
            }
            Thread.onSpinWait();
        }
        waiter = Thread.currentThread();
        try {
            // After the store above: either this sees the publication, or the one who signals sees the waiter.
            VarHandle.fullFence();
            long available = dependent.get();
            while (available < sequence) {
                barrier.checkAlert();
                LockSupport.parkNanos(this, PARK_NS);
                Thread.interrupted();
                available = dependent.get();
            }
            return available;
        } finally {
            waiter = null;
        }
    }

    @Override
    public void signalAllWhenBlocking() {
        VarHandle.fullFence();
        final Thread parked = waiter;
        if (parked != null) {
            LockSupport.unpark(parked);
        }
    }
}
