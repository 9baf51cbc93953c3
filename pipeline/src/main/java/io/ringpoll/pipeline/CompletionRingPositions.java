package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequencer;

/**
 * Where the polling thread stands in the ring, on cache lines of its own.
 */
abstract class CompletionRingPositions extends CompletionRingPadding {
    /** The cursor's value. */
    long published = Sequencer.INITIAL_CURSOR_VALUE;
    /** The slowest handler's sequence as last seen. */
    long gating = Sequencer.INITIAL_CURSOR_VALUE;
}
