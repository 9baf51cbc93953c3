package io.ringpoll.ratis;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.util.TimeDuration;

/** Limits the bytes that have been sent to one peer and have no reply; senders wait. Thread-safe. */
final class ByteWindow {
    private final long maxBytes;
    private long bytes;

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
        while (bytes > 0 && bytes + lengthBytes > maxBytes) {
            final long leftNs = timeoutNs - (System.nanoTime() - startNs);
            if (leftNs <= 0) {
                throw new TimeoutException("no reply in " + timeout + " to " + bytes + " bytes of streams");
            }
            TimeUnit.NANOSECONDS.timedWait(this, leftNs);
        }
        bytes += lengthBytes;
    }

    /** Releases the room of a message. */
    synchronized void release(final int lengthBytes) {
        bytes -= lengthBytes;
        notifyAll();
    }

    /** Bytes in use. */
    synchronized long bytes() {
        return bytes;
    }
}
