package io.ringpoll.internal.transport;

import java.util.concurrent.atomic.AtomicLong;

/** The requests of all peers that a node has not answered, and its memory for long messages and replies. Thread-safe. */
final class Admission {
    private final PeerBounds bounds;
    private final AtomicLong requests = new AtomicLong();
    private final AtomicLong bytes = new AtomicLong();
    private final AtomicLong replies = new AtomicLong();
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

    /** Takes memory for a long reply to a client; false if clients must read others first. */
    boolean reply(final int regionBytes) {
        return take(replies, regionBytes, bounds.maxReplyBytes());
    }

    void replied(final int regionBytes) {
        replies.addAndGet(-regionBytes);
    }

    /** Takes memory for a long message; false if that of others must be released first. */
    boolean land(final int lengthBytes) {
        return take(landing, lengthBytes, bounds.maxLandingBytes());
    }

    /** One message over the bound is permitted, if there is no other one. */
    private static boolean take(final AtomicLong used, final int lengthBytes, final long most) {
        long taken;
        do {
            taken = used.get();
            if (taken > 0 && taken + lengthBytes > most) {
                return false;
            }
        } while (!used.compareAndSet(taken, taken + lengthBytes));
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

    /** Memory in use for long replies to clients. */
    long replyBytes() {
        return replies.get();
    }

    /** Memory in use for long messages that are being received. */
    long landingBytes() {
        return landing.get();
    }
}
