package io.ringpoll.internal.verbs;

/** Identifies the completion queues of records. */
@FunctionalInterface
public interface RecordSource {
    /**
     * The queue of a record.
     *
     * @param recordAddress of the record that a flyweight shows
     * @return index of its completion queue, 0 to 65,535
     * @throws IllegalStateException if the record is none of this source
     */
    int queueIndex(long recordAddress);

    /**
     * The timestamp of a record.
     *
     * @param recordAddress of the record that a flyweight shows
     * @return ticks of the device's clock
     * @throws IllegalStateException if the record has none, or is none of this source
     */
    default long timestamp(final long recordAddress) {
        throw new IllegalStateException(RecordFlyweight.NO_TIMESTAMP);
    }

    /**
     * The attachment of a record's queue.
     *
     * @param recordAddress of the record that a flyweight shows
     * @return as given when the queue was added; null if none was
     * @throws IllegalStateException if the record is none of this source
     */
    default Object attachment(final long recordAddress) {
        return null;
    }
}
