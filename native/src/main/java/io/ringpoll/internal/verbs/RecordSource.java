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
}
