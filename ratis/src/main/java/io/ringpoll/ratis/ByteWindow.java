package io.ringpoll.ratis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.util.TimeDuration;

/** Limits the bytes that have been sent to one peer and have no reply; senders wait. Thread-safe. */
final class ByteWindow {
    private final long maxBytes;
    private long bytes;
    private int waiting;

    ByteWindow(final long maxBytes) {
        this.maxBytes = maxBytes;
    }

    /**
     * Waits for room. A message that is longer than the window waits until it is the only one.
     *
     * @param lengthBytes of the message, to be released at its end
     * @throws TimeoutException if there is no room in time
     */
    synchronized void acquire(final int lengthBytes, final TimeDuration timeout) throws InterruptedException, TimeoutException {
        final long startNs = System.nanoTime();
        final long timeoutNs = timeout.toLong(TimeUnit.NANOSECONDS);
        waiting++;
        try {
            while (!hasRoom(lengthBytes)) {
                final long leftNs = timeoutNs - (System.nanoTime() - startNs);
                if (leftNs <= 0) {
                    throw new TimeoutException("no reply in " + timeout + " to " + bytes + " bytes of streams");
                }
                TimeUnit.NANOSECONDS.timedWait(this, leftNs);
            }
            bytes += lengthBytes;
        } finally {
            waiting--;
        }
    }

    /** Takes the room for a message without waiting, and not before those that wait; returns false if there is none. */
    synchronized boolean tryAcquire(final int lengthBytes) {
        final boolean taken = waiting == 0 && hasRoom(lengthBytes);
        bytes += taken ? lengthBytes : 0;
        return taken;
    }

    private boolean hasRoom(final int lengthBytes) {
        return bytes == 0 || bytes + lengthBytes <= maxBytes;
    }

    /** Releases the room of a message; wakes the senders when half of the window is free, not for each message. */
    synchronized void release(final int lengthBytes) {
        bytes -= lengthBytes;
        if (waiting > 0 && bytes <= maxBytes / 2) {
            notifyAll();
        }
    }

    /** Bytes in use. */
    synchronized long bytes() {
        return bytes;
    }
}
