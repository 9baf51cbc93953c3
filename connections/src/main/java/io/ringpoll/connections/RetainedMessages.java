package io.ringpoll.connections;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The messages that the user retains. Belongs to the polling thread; after the end of the set to the thread that releases them.
 *
 * <p>A handle contains the number of the buffer, and a number that no other retention of the process has: the handle of a message
 * of another connection, or of one that has been released, is that of no message here. A connection takes many numbers at a time,
 * so that connections of several threads do not share the counter at each message.
 * <pre>
 *   63                  16 15     0
 *   | number of retention | buffer |
 * </pre>
 */
final class RetainedMessages {
    /** A window has fewer receives. */
    private static final int BUFFER_BITS = 16;
    private static final long BUFFER = (1 << BUFFER_BITS) - 1;
    /** A power of two. */
    private static final int NUMBERS_AT_A_TIME = 1 << 12;
    private static final AtomicLong TAKEN = new AtomicLong(NUMBERS_AT_A_TIME);

    /** By buffer: 0, or the handle of the retained message in it. */
    private final long[] handles;
    private int size;
    /** The last number; one at the end of those that were taken if there are none. */
    private long number = NUMBERS_AT_A_TIME - 1;

    /** For messages in so many buffers. */
    RetainedMessages(final int buffers) {
        handles = new long[buffers];
    }

    boolean isEmpty() {
        return size == 0;
    }

    /** Returns the handle of the message in a buffer. */
    long add(final int buffer) {
        size++;
        if ((++number & NUMBERS_AT_A_TIME - 1) == 0) {
            number = TAKEN.getAndAdd(NUMBERS_AT_A_TIME);
        }
        final long handle = number << BUFFER_BITS | buffer;
        handles[buffer] = handle;
        return handle;
    }

    /** The buffer of the message with a handle. */
    static int buffer(final long handle) {
        return (int) (handle & BUFFER);
    }

    /** Returns the buffer of a message; negative if it is none of those that are retained here. */
    int remove(final long handle) {
        final int buffer = buffer(handle);
        if (buffer >= handles.length || handles[buffer] != handle || handle == 0) {
            return SendingSide.NONE;
        }
        handles[buffer] = 0;
        size--;
        return buffer;
    }
}
