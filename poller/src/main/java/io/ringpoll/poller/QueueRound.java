package io.ringpoll.poller;

import java.util.Arrays;

/**
 * The queues that are polled in each duty cycle, in their order, and where the next round begins.
 *
 * <p>Owned by the polling thread; others change it by commands only.
 */
final class QueueRound {
    private static final int INITIAL_CAPACITY = 16;

    PolledQueue[] queues = new PolledQueue[INITIAL_CAPACITY];
    int size;
    /** Position at which the next round begins: the queue that missed its turn when the ring became full. */
    int first;
    /** Sleeps on the queues' events; null if the poller does not sleep so. */
    EventDrivenIdle sleeper;

    void add(final PolledQueue polled) {
        if (size == queues.length) {
            queues = Arrays.copyOf(queues, 2 * size);
        }
        queues[size++] = polled;
        if (sleeper != null) {
            sleeper.onAdded(polled);
        }
    }

    /** Takes a queue out, if it is there, and lets the round begin where it would have begun. */
    void remove(final PolledQueue polled) {
        for (int i = 0; i < size; i++) {
            if (queues[i] == polled) {
                removeAt(i);
                return;
            }
        }
    }

    /** Takes all queues out that have failed. */
    void removeFailed() {
        for (int i = size - 1; i >= 0; i--) {
            if (queues[i].faultCode != 0) {
                removeAt(i);
            }
        }
    }

    private void removeAt(final int position) {
        if (sleeper != null) {
            sleeper.onRemoved(queues[position]);
        }
        size--;
        System.arraycopy(queues, position + 1, queues, position, size - position);
        queues[size] = null;
        if (position < first) {
            first--;
        }
        if (first >= size) {
            first = 0;
        }
    }
}
