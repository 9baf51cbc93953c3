package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import io.ringpoll.poller.SlotRing;

/**
 * A pipeline's ring, as those see it who watch the handlers or end them. Any thread may use what is added here.
 */
interface PipelineRing extends SlotRing {
    /** The last published sequence. */
    Sequence cursor();

    /** How many published slots some handler has not passed yet; a moment's value. */
    long occupancy();

    /** From now on no slot can be claimed: a handler will never pass what is there. */
    void halt();
}
