package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequencer;

/**
 * The polling thread's positions in the ring, padded to cache lines of their own.
 */
abstract class CompletionRingPositions extends CompletionRingPadding {
    /** The cursor's value. */
    long published = Sequencer.INITIAL_CURSOR_VALUE;
    /** Cached value of the slowest gating sequence. */
    long gating = Sequencer.INITIAL_CURSOR_VALUE;
    /** Queue of the last published slot; -1 before the first. */
    int lastQueue = -1;
}
