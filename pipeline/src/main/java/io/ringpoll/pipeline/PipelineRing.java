package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import io.ringpoll.internal.poller.SlotRing;

/**
 * The ring as seen by threads that observe or end the handlers. All added methods are thread-safe.
 */
interface PipelineRing extends SlotRing {
    /** The last published sequence. */
    Sequence cursor();

    /** The last sequence, at most the given published one, that all handlers have passed and released. */
    long minimumGatingSequence(long last);

    @Override
    default long lastPublished() {
        return cursor().get();
    }

    @Override
    default boolean isPassed(final long sequence) {
        return minimumGatingSequence(sequence) >= sequence;
    }

    /** Number of published slots that at least one handler has not passed; a snapshot. */
    default long occupancy() {
        final long last = cursor().get();
        return last - minimumGatingSequence(last);
    }

    /** Halts the ring: no slot can be claimed from now on, because a handler has halted. */
    void halt();
}
