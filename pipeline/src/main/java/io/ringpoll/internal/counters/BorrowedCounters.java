package io.ringpoll.internal.counters;

import io.ringpoll.internal.counters.CountersSnapshot.RecordedCounter;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.internal.poller.MemoryFault;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;

/**
 * The counters of one pipeline in a user's manager, to be freed when no thread of the pipeline writes them any more. Then each
 * keeps its last value, since the manager reuses its memory. A counter that the program has freed itself is left
 * alone: its id may belong to another counter.
 *
 * <p>If the manager is full, the others are allocated outside it, so that {@link #requireAll} can state their number.
 *
 * <p>Allocated by the thread that starts the pipeline, freed by the last one that uses it, read by any.
 */
final class BorrowedCounters extends CountersManager {
    /** Added to the ids of {@link CounterType}: those of Aeron's counters are lower. */
    static final int FIRST_TYPE_ID = 10_000;

    private final CountersManager user;
    /** The manager's refusal of a counter, or null; guarded by this, as are the next two fields. */
    private RuntimeException refusal;
    private int refused;
    private final List<KeptCounter> counters = new ArrayList<>();
    /** The error of the first access that found the memory of the manager gone, or null; guarded by this. */
    private InternalError lost;

    BorrowedCounters(final CountersManager user) {
        super(user.metaDataBuffer(), user.valuesBuffer());
        this.user = user;
    }

    /** A counter that can be read after its memory belongs to another one; not written then. */
    private static final class KeptCounter extends AtomicCounter {
        private final CountersManager user;
        private final RecordedCounter record;
        private final String allocatedLabel;
        private volatile boolean freed;
        private long last;

        KeptCounter(final CountersManager user, final int id, final RecordedCounter record) {
            super(user.valuesBuffer(), id, user);
            this.user = user;
            this.record = record;
            this.allocatedLabel = user.getCounterLabel(id);
        }

        @Override
        public long get() {
            if (!freed) {
                final long value = super.get();
                if (!freed) {
                    return value;
                }
            }
            return last;
        }

        /** Keeps the value and frees the counter; returns false if the program has freed it before. Idempotent. */
        boolean free() {
            if (freed) {
                return true;
            }
            final boolean allocated = user.getCounterState(id()) == CountersReader.RECORD_ALLOCATED;
            final boolean own = allocated && user.getCounterTypeId(id()) == FIRST_TYPE_ID + record.typeId() &&
                allocatedLabel.equals(user.getCounterLabel(id()));
            // The value of another counter is not that of this one.
            last = own || !allocated ? super.get() : 0;
            // Before the manager may reuse the memory for another counter.
            freed = true;
            if (own) {
                close();
            }
            return own;
        }

        RecordedCounter snapshot() {
            return new RecordedCounter(
                record.type(), record.typeId(), record.owner(), record.parameter(), record.label(), get());
        }
    }

    @Override
    public AtomicCounter newCounter(final String label, final int typeId, final Consumer<MutableDirectBuffer> key) {
        final UnsafeBuffer written = new UnsafeBuffer(new byte[CountersReader.MAX_KEY_LENGTH]);
        key.accept(written);
        final RecordedCounter described = new RecordedCounter(CounterType.ofId(typeId), typeId, CounterType.owner(written),
            CounterType.parameter(written), label, 0);
        synchronized (this) {
            if (refusal == null) {
                try {
                    final KeptCounter counter =
                        new KeptCounter(user, user.allocate(label, FIRST_TYPE_ID + typeId, key), described);
                    counters.add(counter);
                    return counter;
                } catch (final IllegalStateException full) {
                    refusal = full;
                }
            }
            refused++;
        }
        return new AtomicCounter(new UnsafeBuffer(ByteBuffer.allocateDirect(CountersReader.COUNTER_LENGTH)), 0);
    }

    /**
     * Checks that the manager has allocated all counters.
     *
     * @param name of the pipeline
     * @throws IllegalStateException if it was full
     */
    synchronized void requireAll(final String name) {
        if (refusal != null) {
            final int allocated = counters.size();
            throw new IllegalStateException("pipeline " + name + " needs " + (allocated + refused) +
                " counters, but the countersManager has room for " + allocated + ": enlarge its metadata buffer by " +
                refused * CountersReader.METADATA_LENGTH + " bytes and its values buffer by " +
                refused * CountersReader.COUNTER_LENGTH + " bytes (" + refusal.getMessage() + ")", refusal);
        }
    }

    /**
     * The counters with their present values, or their last ones.
     *
     * @throws InternalError if the memory of the manager was gone when the counters were freed
     */
    synchronized List<RecordedCounter> snapshot() {
        if (lost != null) {
            throw lost;
        }
        return counters.stream().map(KeptCounter::snapshot).toList();
    }

    /**
     * Frees all counters; idempotent.
     *
     * @param errors receives an exception if the program has freed some before, and those of the manager
     */
    synchronized void free(final ErrorHandler errors) {
        int freedBefore = 0;
        try {
            for (int i = 0; i < counters.size() && lost == null; i++) {
                freedBefore += isFreedBefore(counters.get(i), errors) ? 1 : 0;
            }
        } catch (final InternalError truncatedFile) {
            // Neither the other counters nor the records of the manager can be accessed.
            lost = truncatedFile;
            errors.onError(truncatedFile);
        }
        if (lost == null && freedBefore > 0) {
            errors.onError(new IllegalStateException("the program has freed " + freedBefore + " of the pipeline's " +
                counters.size() + " counters in the countersManager; the close of the pipeline frees them"));
        }
    }

    /** Frees a counter; returns whether the program has freed it before. */
    private static boolean isFreedBefore(final KeptCounter counter, final ErrorHandler errors) {
        boolean freedBefore = false;
        try {
            freedBefore = !counter.free();
        } catch (final RuntimeException failure) {
            errors.onError(failure);
        }
        // Before the next one: an error is of this counter's memory.
        MemoryFault.check();
        return freedBefore;
    }
}
