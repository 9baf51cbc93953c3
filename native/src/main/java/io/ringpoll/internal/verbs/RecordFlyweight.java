package io.ringpoll.internal.verbs;

/**
 * The address of a flyweight's record. Users set it by buffer and offset, which are checked; the pipeline, which polls into
 * memory
 * of its own, by {@link RecordAddress#show}.
 */
public abstract class RecordFlyweight {
    /** Of the record; 0 if it shows nothing. */
    long address;

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
}
