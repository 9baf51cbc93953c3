package io.ringpoll.connections;

/**
 * The messages that the user retains. Belongs to the polling thread; after the end of the set to the thread that releases them.
 */
final class RetainedMessages {
    /** By buffer: 0, or the number of the retained message in it. */
    private final long[] retainedAs;
    private int size;
    private long retentions;

    /** For messages in so many buffers. */
    RetainedMessages(final int buffers) {
        retainedAs = new long[buffers];
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the handle of the message in a buffer. */
    long add(final int buffer) {
        size++;
        retainedAs[buffer] = ++retentions;
        return retentions << Integer.SIZE | buffer;
    }

    /** Returns the buffer of a message. */
    int remove(final long message) {
        final int buffer = (int) message;
        if (buffer < 0 || buffer >= retainedAs.length || retainedAs[buffer] == 0 ||
            retainedAs[buffer] << Integer.SIZE != (message & -1L << Integer.SIZE)) {
            throw new IllegalStateException("message " + Long.toHexString(message) + " is not retained");
        }
        retainedAs[buffer] = 0;
        size--;
        return buffer;
    }
}
