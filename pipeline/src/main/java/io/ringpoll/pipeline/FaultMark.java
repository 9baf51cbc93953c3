package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequencer;

/**
 * The sequence of the last queue fault in the ring, so that handlers can end a batch before it.
 *
 * <p>Written by the polling thread before it publishes the fault, read by the handlers' threads once per batch.
 */
final class FaultMark {
    private volatile long last = Sequencer.INITIAL_CURSOR_VALUE;

    void set(final long sequence) {
        last = sequence;
    }

    /** The sequence of the last fault; earlier faults may precede it. */
    long last() {
        return last;
    }
}
