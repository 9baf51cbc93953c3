package io.ringpoll.pipeline;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.TimeoutException;
import com.lmax.disruptor.WaitStrategy;

/**
 * A sequence barrier with the handler's own wait strategy: waits for the poller and the earlier stages.
 *
 * <p>{@link #waitFor} belongs to the handler's thread; any thread may call {@link #alert()}.
 */
class HandlerBarrier implements SequenceBarrier {
    private final Sequence cursor;
    private final Sequence dependent;
    private final WaitStrategy waitStrategy;
    private volatile boolean alerted;

    HandlerBarrier(final Sequence cursor, final Sequence dependent, final WaitStrategy waitStrategy) {
        this.cursor = cursor;
        this.dependent = dependent;
        this.waitStrategy = waitStrategy;
    }

    @Override
    public long waitFor(final long sequence) throws AlertException, InterruptedException, TimeoutException {
        if (alerted) {
            throw AlertException.INSTANCE;
        }
        return waitStrategy.waitFor(sequence, cursor, dependent, this);
    }

    @Override
    public long getCursor() {
        return dependent.get();
    }

    @Override
    public boolean isAlerted() {
        return alerted;
    }

    @Override
    public void alert() {
        alerted = true;
        waitStrategy.signalAllWhenBlocking();
    }

    @Override
    public void clearAlert() {
        alerted = false;
    }

    @Override
    public void checkAlert() throws AlertException {
        if (alerted) {
            throw AlertException.INSTANCE;
        }
    }
}
