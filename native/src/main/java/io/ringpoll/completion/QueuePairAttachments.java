package io.ringpoll.completion;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * The attachments of the queue pairs that share a completion queue, by queue pair number: as the attachment of the queue of a
 * shared receive queue, it makes {@link WorkCompletion#attachment()} return the connection of each message.
 *
 * <p>Thread-safe. A lookup takes no lock and allocates nothing. {@link #put} before the queue pair can complete a request: then
 * each completion finds its attachment. {@link #remove} after its last completion has been handled: the device may reuse the
 * number of a destroyed queue pair.
 *
 * @see <a href="https://man7.org/linux/man-pages/man3/ibv_poll_cq.3.html">ibv_poll_cq(3)</a>, for {@code qp_num}
 */
public final class QueuePairAttachments {
    private static final int INITIAL_CAPACITY = 64;
    /** Spreads consecutive numbers over the table: 2<sup>32</sup> divided by the golden ratio. */
    private static final int SPREAD = 0x9E37_79B9;
    /** Marks the place of a removed entry, which does not end a search. */
    private static final Entry REMOVED = new Entry(0, null);

    /** Open addressing with linear probing; a power of two of places, of which at most half are used. */
    private volatile AtomicReferenceArray<Entry> table = new AtomicReferenceArray<>(INITIAL_CAPACITY);
    /** Entries that are not removed; guarded by this, as is the next field. */
    private int size;
    /** Places that are not null. */
    private int used;

    /** An attachment with its queue pair number. */
    private record Entry(int queuePairNumber, Object attachment) {
        private boolean isOf(final int number) {
            return queuePairNumber == number && attachment != null;
        }
    }

    /** Creates a table without attachments. */
    public QueuePairAttachments() {
    }

    /**
     * Sets the attachment of a queue pair; a previous one is replaced. Any thread.
     *
     * @param queuePairNumber as {@link WorkCompletion#queuePairNumber()} of its completions
     * @param attachment      such as the user's connection
     */
    public synchronized void put(final int queuePairNumber, final Object attachment) {
        Objects.requireNonNull(attachment, "the attachment is null");
        final int position = position(table, queuePairNumber);
        final boolean isNew = table.get(position) == null;
        table.set(position, new Entry(queuePairNumber, attachment));
        if (isNew) {
            size++;
            used++;
            if (2 * used > table.length()) {
                rebuild();
            }
        }
    }

    /**
     * Removes the attachment of a queue pair; no effect if it has none. Any thread.
     *
     * @param queuePairNumber that was given to {@link #put}
     */
    public synchronized void remove(final int queuePairNumber) {
        final int position = position(table, queuePairNumber);
        if (table.get(position) != null) {
            table.set(position, REMOVED);
            size--;
        }
    }

    /**
     * The attachment of a queue pair. Any thread; allocates nothing and takes no lock.
     *
     * @param queuePairNumber as {@link WorkCompletion#queuePairNumber()}
     * @return null if it has none
     */
    public Object get(final int queuePairNumber) {
        final AtomicReferenceArray<Entry> entries = table;
        final int mask = entries.length() - 1;
        int position = start(mask, queuePairNumber);
        // Each place is read once: another thread may fill the free place that ends the search.
        Entry entry = entries.getAcquire(position);
        while (entry != null && !entry.isOf(queuePairNumber)) {
            position = position + 1 & mask;
            entry = entries.getAcquire(position);
        }
        return entry == null ? null : entry.attachment;
    }

    /**
     * Number of queue pairs with an attachment.
     *
     * @return a snapshot
     */
    public synchronized int size() {
        return size;
    }

    /** Number of places. */
    int capacity() {
        return table.length();
    }

    private static int start(final int mask, final int queuePairNumber) {
        return queuePairNumber * SPREAD >>> Integer.numberOfLeadingZeros(mask);
    }

    /** The place of a number, or the free place that ends its search; under the lock. */
    private static int position(final AtomicReferenceArray<Entry> entries, final int queuePairNumber) {
        final int mask = entries.length() - 1;
        int position = start(mask, queuePairNumber);
        while (entries.get(position) != null && !entries.get(position).isOf(queuePairNumber)) {
            position = position + 1 & mask;
        }
        return position;
    }

    /** Copies the entries to a table without removed ones, of which they use at most a quarter. */
    private void rebuild() {
        final AtomicReferenceArray<Entry> old = table;
        final int capacity = Math.max(INITIAL_CAPACITY, Integer.highestOneBit(4 * size - 1) << 1);
        final AtomicReferenceArray<Entry> copy = new AtomicReferenceArray<>(capacity);
        for (int i = 0; i < old.length(); i++) {
            final Entry entry = old.get(i);
            if (entry != null && entry.attachment != null) {
                copy.set(position(copy, entry.queuePairNumber), entry);
            }
        }
        used = size;
        table = copy;
    }
}
