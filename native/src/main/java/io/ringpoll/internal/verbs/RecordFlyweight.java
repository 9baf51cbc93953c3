package io.ringpoll.internal.verbs;

/**
 * The address of a flyweight's record. Users set it by buffer and offset, which are checked; the pipeline, which polls into
 * memory of its own, by {@link RecordAddress#show}.
 */
public abstract class RecordFlyweight {
    /** The message where a record has no timestamp. */
    public static final String NO_TIMESTAMP = "the completion has no timestamp: create its queue by " +
        "VerbsCompletionQueue.createWithTimestamps, on a device with the capability \"completion timestamps\"";

    /** Of the record; 0 if it shows nothing. */
    long address;
    /** Null if the records that it shows are not of a poller. */
    RecordSource source;

    /** Creates a flyweight that shows nothing. */
    protected RecordFlyweight() {
    }

    /**
     * The record's address.
     *
     * @return never 0
     * @throws IllegalStateException if the flyweight shows nothing
     */
    protected final long shown() {
        final long record = address;
        if (record == 0) {
            throw new IllegalStateException("the flyweight shows no completion: it has not been wrapped, or its time is over");
        }
        return record;
    }

    /**
     * The index of the record's completion queue.
     *
     * @return 0 to 65,535
     * @throws IllegalStateException if the flyweight shows nothing, or no record of a poller
     */
    protected final int shownQueueIndex() {
        final long record = shown();
        if (source == null) {
            throw new IllegalStateException("the completion has no queue index: no poller has published it");
        }
        return source.queueIndex(record);
    }

    /**
     * The timestamp of the record.
     *
     * @return ticks of the device's clock
     * @throws IllegalStateException if the flyweight shows nothing, or no record of a poller, or one without a timestamp
     */
    protected final long shownTimestamp() {
        final long record = shown();
        if (source == null) {
            throw new IllegalStateException("the completion has no timestamp here: no poller has published it; " +
                "WorkCompletions.timestamp(index) returns that of a record polled by hand");
        }
        return source.timestamp(record);
    }

    /**
     * The attachment of the record's completion queue.
     *
     * @return null if the queue has none
     * @throws IllegalStateException if the flyweight shows nothing, or no record of a poller
     */
    protected final Object shownAttachment() {
        final long record = shown();
        if (source == null) {
            throw new IllegalStateException("the completion has no attachment: no poller has published it");
        }
        return source.attachment(record);
    }
}
