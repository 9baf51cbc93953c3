package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import io.ringpoll.poller.SlotRing;

/**
 * A pipeline's ring, as those see it who watch the handlers or end them. Any thread may use what is added here.
 */
interface PipelineRing extends SlotRing {
    /** The last published sequence. */
    Sequence cursor();

    /** The last sequence, up to a published one, that all handlers have passed and give back. */
    long passedOf(long last);

    /** How many published slots some handler has not passed yet; a moment's value. */
    default long occupancy() {
        final long last = cursor().get();
        return last - passedOf(last);
    }

    /** From now on no slot can be claimed: a handler will never pass what is there. */
    void halt();
}
