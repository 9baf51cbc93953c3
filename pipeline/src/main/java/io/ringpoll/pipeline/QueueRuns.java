package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The completion queues of the ring's slots, kept once for each run of consecutive slots from one queue.
 * <pre>
 *   slots     | q0 q0 q0 q0 | q3 | q0 q0 | q1 q1 q1 ...
 *   runs      0             4    5       7
 * </pre>
 *
 * <p>The polling thread begins runs before it publishes their first slot. Any thread may look up a live slot: published, and not
 * free again. There are as many places as slots and a run has at least one slot, so the run of a live slot is not overwritten.
 */
final class QueueRuns {
    private static final VarHandle START = MethodHandles.arrayElementVarHandle(long[].class);

    /** First sequences of the runs. */
    private final long[] starts;
    private final short[] queues;
    private final int mask;
    /** Number of runs so far; a Sequence because its value is padded. */
    private final Sequence count = new Sequence(0);

    QueueRuns(final int capacity) {
        starts = new long[capacity];
        queues = new short[capacity];
        mask = capacity - 1;
    }

    /** Begins a run; polling thread only, before it publishes the slot. */
    void begin(final long sequence, final int queueIndex) {
        final long run = count.get();
        START.setRelease(starts, (int) run & mask, sequence);
        queues[(int) run & mask] = (short) queueIndex;
        count.set(run + 1);
    }

    /** Number of runs so far, which include those of all published slots. */
    long count() {
        return count.get();
    }

    /** Number of the run of a live slot. */
    long find(final long sequence) {
        final long newest = count.get();
        final long oldest = Math.max(0, newest - starts.length);
        long end = newest;
        long endStart = Long.MAX_VALUE;
        long run = newest - 1;
        long runStart = start(run);
        for (long step = 1; run > oldest && isAfter(runStart, sequence, endStart); step <<= 1) {
            end = run;
            endStart = runStart;
            run = Math.max(oldest, run - step);
            runStart = start(run);
        }
        while (end - run > 1) {
            final long middle = run + end >>> 1;
            final long middleStart = start(middle);
            if (isAfter(middleStart, sequence, endStart)) {
                end = middle;
                endStart = middleStart;
            } else {
                run = middle;
            }
        }
        return run;
    }

    /**
     * As {@link #find(long)}, for a reader with a previous result: consecutive slots of many queues are found without a search.
     */
    long find(final long sequence, final long previous) {
        final long next = previous + 1;
        // The later start first: if the next run has been overwritten, its start is seen to be after the slot.
        if (next + 1 < count.get() && start(next + 1) > sequence && start(next) <= sequence) {
            return next;
        }
        return find(sequence);
    }

    /** Whether a run begins after a slot. A start not before that of a later run has been overwritten: the run is older. */
    private static boolean isAfter(final long start, final long sequence, final long endStart) {
        return start > sequence && start < endStart;
    }

    /** The first slot of a run that has not been overwritten. */
    long start(final long run) {
        return (long) START.getAcquire(starts, (int) run & mask);
    }

    /** The queue of a run that has not been overwritten. */
    int queueIndex(final long run) {
        return queues[(int) run & mask] & 0xFFFF;
    }
}
