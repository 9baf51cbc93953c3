package io.ringpoll.connections;

/** The messages that wait because the listener has refused one, in order. Belongs to the polling thread. */
final class WaitingMessages {
    private final int[] buffers;
    private final int[] lengths;
    private int first;
    private int size;

    /** For at most so many messages. */
    WaitingMessages(final int capacity) {
        buffers = new int[capacity];
        lengths = new int[capacity];
    }

    boolean isEmpty() {
        return size == 0;
    }

    void add(final int buffer, final int lengthBytes) {
        final int last = (first + size) % buffers.length;
        buffers[last] = buffer;
        lengths[last] = lengthBytes;
        size++;
    }

    /** Buffer of the first one. */
    int buffer() {
        return buffers[first];
    }

    /** Length of the first one, in bytes. */
    int lengthBytes() {
        return lengths[first];
    }

    void removeFirst() {
        first = first + 1 == buffers.length ? 0 : first + 1;
        size--;
    }
}
