package io.ringpoll.bench.handoff;

import io.ringpoll.completion.IbvWc;
import org.jctools.queues.MessagePassingQueue;

/**
 * Events that the producer fills one after the other, again and again, so that it allocates nothing. Owned by the producer, on
 * cache lines of its own.
 *
 * <p>An event may be used again when the consumer has passed it. A bounded queue shows that without another message: if it has
 * accepted an event, those that are as far back as its capacity have been taken out. So the pool has an event for each slot of
 * the queue and for each that the consumer can have taken out and not yet handled.
 */
final class EventPool extends EventPoolFields implements MessagePassingQueue.Supplier<CompletionEvent> {
    /** The event that is filled, and another one because an event is filled before the queue has accepted it. */
    private static final int IN_PRODUCTION = 2;

    long p16;
    long p17;
    long p18;
    long p19;
    long p20;
    long p21;
    long p22;
    long p23;
    long p24;
    long p25;
    long p26;
    long p27;
    long p28;
    long p29;
    long p30;
    long p31;

    /** Creates events for a queue and for those that a consumer takes out before it handles them. */
    EventPool(final int capacity, final int takenOut) {
        super(capacity + takenOut + IN_PRODUCTION);
    }

    /** Sets the record that the next event is filled from, and those after it the next events. */
    void startAt(final long firstRecord) {
        record = firstRecord;
    }

    /** The next event, filled from the next record. */
    @Override
    public CompletionEvent get() {
        final int index = next;
        next = index + 1 == events.length ? 0 : index + 1;
        final long from = record;
        record = from + IbvWc.SIZE_BYTES;
        return events[index].copyFrom(from);
    }
}
