package io.ringpoll.connections;

import io.ringpoll.internal.poller.TimedWork;
import java.util.Arrays;

/**
 * The scheduled timers of the connections of one polling thread: a heap, of which the first one is due first. It allocates only
 * when there are more timers than ever before.
 *
 * <p>Belongs to the polling thread; after its end to the thread that ends the connections.
 */
final class ConnectionTimers implements TimedWork {
    private static final int INITIAL_CAPACITY = 16;

    /** Each timer is due not before the one at half of its place. */
    private ConnectionTimer[] heap = new ConnectionTimer[INITIAL_CAPACITY];
    private int size;

    int size() {
        return size;
    }

    @Override
    public boolean isPending() {
        return size > 0;
    }

    @Override
    public long leftNs(final long nowNs) {
        return size == 0 ? Long.MAX_VALUE : heap[0].dueNs - nowNs;
    }

    /** Executes the timers that are due. One that is scheduled meanwhile waits for the next call, so that polls go on. */
    @Override
    public void run(final long nowNs) {
        for (int most = size; most > 0 && leftNs(nowNs) <= 0; most--) {
            final ConnectionTimer due = heap[0];
            remove(due);
            due.run();
        }
    }

    /** Adds a timer, or changes the time for which it is scheduled. */
    void schedule(final ConnectionTimer timer, final long dueNs) {
        timer.dueNs = dueNs;
        if (timer.place == ConnectionTimer.NONE) {
            if (size == heap.length) {
                heap = Arrays.copyOf(heap, 2 * size);
            }
            put(timer, size++);
            timer.link();
        }
        restore(timer);
    }

    /** Removes a scheduled timer. */
    void remove(final ConnectionTimer timer) {
        final ConnectionTimer last = heap[--size];
        heap[size] = null;
        if (last != timer) {
            put(last, timer.place);
            restore(last);
        }
        timer.place = ConnectionTimer.NONE;
        timer.unlink();
    }

    /** Removes the timers of a connection that ends. */
    void removeAll(final MessageConnection connection) {
        while (connection.scheduled != null) {
            remove(connection.scheduled);
        }
    }

    /** Restores the order after a change of one timer's time or place. */
    private void restore(final ConnectionTimer timer) {
        int place = timer.place;
        while (place > 0 && isBefore(timer, heap[(place - 1) / 2])) {
            put(heap[(place - 1) / 2], place);
            place = (place - 1) / 2;
        }
        for (int next = sooner(2 * place + 1); next < size && isBefore(heap[next], timer); next = sooner(2 * place + 1)) {
            put(heap[next], place);
            place = next;
        }
        put(timer, place);
    }

    /** The place of the earlier one of two neighbouring timers. */
    private int sooner(final int place) {
        return place + 1 < size && isBefore(heap[place + 1], heap[place]) ? place + 1 : place;
    }

    private void put(final ConnectionTimer timer, final int place) {
        heap[place] = timer;
        timer.place = place;
    }

    private static boolean isBefore(final ConnectionTimer first, final ConnectionTimer second) {
        return first.dueNs - second.dueNs < 0;
    }
}
