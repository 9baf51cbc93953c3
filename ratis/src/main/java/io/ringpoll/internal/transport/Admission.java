package io.ringpoll.internal.transport;

import java.util.concurrent.atomic.AtomicLong;

/** The requests of all peers that a node has not answered, and its memory for long messages. Thread-safe. */
final class Admission {
    private final PeerBounds bounds;
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong landing = new AtomicLong();

    Admission(final PeerBounds bounds) {
        this.bounds = bounds;
    }

    /** Whether clients may send further requests. */
    boolean isOpen() {
        return requests.get() < bounds.maxRequests() && bytes.get() < bounds.maxBytes();
    }

    void enter(final int lengthBytes) {
        requests.incrementAndGet();
        bytes.addAndGet(lengthBytes);
    }

    /** Adds to the length of a request that has entered. */
    void add(final int lengthBytes) {
        bytes.addAndGet(lengthBytes);
    }

    void leave(final int lengthBytes) {
        requests.decrementAndGet();
        bytes.addAndGet(-lengthBytes);
    }

    /** Takes memory for a long message; false if that of others must be released first. */
    boolean land(final int lengthBytes) {
        long taken;
        do {
            taken = landing.get();
            if (taken > 0 && taken + lengthBytes > bounds.maxLandingBytes()) {
                return false;
            }
        } while (!landing.compareAndSet(taken, taken + lengthBytes));
        return true;
    }

    void landed(final int lengthBytes) {
        landing.addAndGet(-lengthBytes);
    }

    /** Number of unanswered requests. */
    long requests() {
        return requests.get();
    }

    /** Length of the unanswered requests. */
    long bytes() {
        return bytes.get();
    }

    /** Memory in use for long messages. */
    long landingBytes() {
        return landing.get();
    }
}
