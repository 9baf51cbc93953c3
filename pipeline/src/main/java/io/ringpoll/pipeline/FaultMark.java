package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import java.util.Arrays;

/**
 * The slots that contain queue faults. Handlers end a batch before them; the status alone does not make a record a fault, because
 * a user's queue may write any status.
 *
 * <p>Written by the polling thread before it publishes the fault. The handlers' threads read the last sequence once per batch,
 * and the array only if that is a slot of theirs or a later one. A Sequence because its value is padded.
 */
final class FaultMark extends Sequence {
    private final int mask;
    /** Indexed by slot: the sequence of its last fault. */
    private final long[] sequences;

    FaultMark(final int capacity) {
        super(Sequencer.INITIAL_CURSOR_VALUE);
        mask = capacity - 1;
        // Here, not at the first fault: the polling thread does not allocate.
        sequences = new long[capacity];
        Arrays.fill(sequences, Sequencer.INITIAL_CURSOR_VALUE);
    }

    /** Marks a slot before its publication; polling thread only. */
    void mark(final long sequence) {
        sequences[(int) sequence & mask] = sequence;
        set(sequence);
    }

    /** The sequence of the last fault; earlier faults may precede it. */
    long last() {
        return get();
    }

    /** Whether a live slot contains a fault. */
    boolean contains(final long sequence) {
        // The last sequence first: it is stored after the slots.
        return sequence <= get() && sequences[(int) sequence & mask] == sequence;
    }
}
