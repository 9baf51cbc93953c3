package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionQueue;
import java.lang.ref.Reference;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Map;

/**
 * Records the poller of each completion queue of the process: two pollers of one queue would share its completions at random.
 *
 * <p>A claim retains neither the queue nor the poller. Thread-safe; no other lock is taken while this one is held.
 */
final class QueueClaims {
    /** By {@link CompletionQueue#underlying()}. Also the lock of this class. */
    private static final Map<Key, Claim> CLAIMS = new HashMap<>();
    private static final ReferenceQueue<Object> COLLECTED = new ReferenceQueue<>();

    private QueueClaims() {
    }

    /** A queue by identity rather than {@code equals}. */
    private static final class Key extends WeakReference<Object> {
        private final int hash;

        Key(final Object underlying) {
            super(underlying, COLLECTED);
            hash = System.identityHashCode(underlying);
        }

        @Override
        public boolean equals(final Object other) {
            if (this == other) {
                return true;
            }
            final Object mine = get();
            return mine != null && other instanceof final Key key && key.refersTo(mine);
        }

        @Override
        public int hashCode() {
            return hash;
        }
    }

    /** A poller's claim to a queue. */
    static final class Claim {
        private final WeakReference<CompletionQueue> queue;
        private final WeakReference<QueueRegistry> owner;

        private Claim(final CompletionQueue queue, final QueueRegistry owner) {
            this.queue = new WeakReference<>(queue);
            this.owner = new WeakReference<>(owner);
        }

        /** The queue that was added; null if it has been collected. */
        CompletionQueue queue() {
            return queue.get();
        }

        /** The registry of the claiming poller; null if the poller has been collected. */
        QueueRegistry owner() {
            return owner.get();
        }

        /** The exception for a further addition. */
        IllegalStateException refusal(final CompletionQueue refused, final QueueRegistry registry) {
            final QueueRegistry there = owner();
            final CompletionQueue added = queue();
            final String by = there == registry || there == null ? "" : " by " + there.pollerName();
            final String as = added == refused || added == null || added.name().equals(refused.name()) ? "" :
                ", as " + added.name();
            return new IllegalStateException(
                refused.name() + " is already polled" + by + as + ": a queue has one poller; remove it there first");
        }
    }

    /** Claims a queue. Returns null, or the existing claim of this or another poller. */
    static Claim claim(final Object underlying, final CompletionQueue queue, final QueueRegistry registry) {
        synchronized (CLAIMS) {
            removeCollected();
            final Key key = new Key(underlying);
            final Claim earlier = CLAIMS.get(key);
            if (earlier != null && earlier.owner() != null) {
                return earlier;
            }
            CLAIMS.put(key, new Claim(queue, registry));
            return null;
        }
    }

    /** The claim to a queue; null if there is none. */
    static Claim of(final Object underlying) {
        synchronized (CLAIMS) {
            return CLAIMS.get(new Key(underlying));
        }
    }

    /** Ends a poller's claim to a queue; no effect if another poller holds it. */
    static void release(final Object underlying, final QueueRegistry registry) {
        synchronized (CLAIMS) {
            removeCollected();
            final Key key = new Key(underlying);
            final Claim claim = CLAIMS.get(key);
            if (claim != null && claim.owner() == registry) {
                CLAIMS.remove(key);
            }
        }
    }

    /** Number of claims, for leak tests. */
    static int size() {
        synchronized (CLAIMS) {
            removeCollected();
            return CLAIMS.size();
        }
    }

    private static void removeCollected() {
        for (Reference<?> key = COLLECTED.poll(); key != null; key = COLLECTED.poll()) {
            CLAIMS.remove(key);
        }
    }
}
