package io.ringpoll.internal.verbs;

/** Sets the address of a flyweight's record. A class of its own, since static methods of a superclass are inherited. */
public final class RecordAddress {
    private RecordAddress() {
    }

    /**
     * Points a flyweight at a record by its address. Nothing is checked, so the memory must be there for as long as the flyweight
     * is read.
     *
     * @param flyweight to be moved
     * @param address   of the record
     * @param <F>       its type
     * @return the flyweight
     */
    public static <F extends RecordFlyweight> F show(final F flyweight, final long address) {
        flyweight.address = address;
        return flyweight;
    }

    /**
     * The address of a flyweight's record, for a layer that reads several fields after one check.
     *
     * @param flyweight that shows a record
     * @return never 0
     * @throws IllegalStateException if it shows nothing
     */
    public static long of(final RecordFlyweight flyweight) {
        return flyweight.shown();
    }

    /**
     * Sets the source of a flyweight's records, for as long as the flyweight is used.
     *
     * @param flyweight that shows records of a poller
     * @param source    asked for the queue of a record
     */
    public static void source(final RecordFlyweight flyweight, final RecordSource source) {
        flyweight.source = source;
    }
}
