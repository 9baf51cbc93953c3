package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.LockSupport;

/**
 * Parks the handler's thread until it is signalled: lowest CPU use.
 *
 * <p>For one handler. Unlike the Disruptor's blocking strategies it uses no lock: a signal costs a fence per publication, and a
 * system call only if the handler is parked.
 */
final class ParkingWaitStrategy implements WaitStrategy {
    private static final int SPINS = 100;
    /**
     * Time-out of a park, as a safety net: no signal is lost. Tests set the system property to a time that would expose a lost
     * signal.
     */
    private static final long PARK_NS = Long.getLong("ringpoll.park.bound.ns", 100_000_000);

    private final long parkNs;
    private volatile Thread waiter;

    ParkingWaitStrategy() {
        this(PARK_NS);
    }

    /** Creates a strategy that checks the barrier at least once in a time. */
    ParkingWaitStrategy(final long maxParkNs) {
        parkNs = Math.min(maxParkNs, PARK_NS);
    }

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
            // After the volatile store above: either this thread sees the publication, or the signalling thread sees the waiter.
            VarHandle.fullFence();
            long available = dependent.get();
            while (available < sequence) {
                barrier.checkAlert();
                LockSupport.parkNanos(this, parkNs);
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
