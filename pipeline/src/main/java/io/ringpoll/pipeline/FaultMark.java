package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequencer;

/**
 * Where the last queue fault is in the ring, so that handlers can end a batch before it.
 *
 * <p>Written by the polling thread before it publishes the fault, read by the handlers' threads once a batch.
 */
final class FaultMark {
    private volatile long last = Sequencer.INITIAL_CURSOR_VALUE;

    void set(final long sequence) {
        last = sequence;
    }

    /** The sequence of the last fault; there may be others before it. */
    long last() {
        return last;
    }
}
