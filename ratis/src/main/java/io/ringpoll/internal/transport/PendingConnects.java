package io.ringpoll.internal.transport;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Keeps connects whose callers were interrupted, as the engine does at the end of each election, or have timed out. They
 * continue, and the next callers take them over; a connect that is not taken over ends after a time. Ending them with their
 * callers would waste the work of the peer: a peer that needs longer for all requests than their callers wait would never accept
 * any. Thread-safe.
 *
 * <p>For each peer there are at most as many as callers have waited for it at the same time (the log and streams, for instance):
 * a caller takes one over, if there is one, before it requests another.
 */
final class PendingConnects {
    private final long keepNs;
    /** The connects of each peer by their numbers, in whose order the peer accepts them. */
    private final Map<String, TreeMap<Long, Pending>> byPeer = new HashMap<>();

    private record Pending(Link link, long endNs) {
    }

    /** Each connect ends after a time, established or not. */
    PendingConnects(final long keepMs) {
        keepNs = TimeUnit.MILLISECONDS.toNanos(keepMs);
    }

    /** Keeps a connect to a peer. */
    synchronized void keep(final String peer, final Link link) {
        byPeer.computeIfAbsent(peer, first -> new TreeMap<>())
            .put(link.number(), new Pending(link, System.nanoTime() + keepNs));
    }

    /**
     * Removes a connect to a peer: one that is established, or else the one that was requested first. Null if there is none, or
     * all have failed.
     */
    synchronized Link take(final String peer) {
        final TreeMap<Long, Pending> links = byPeer.getOrDefault(peer, new TreeMap<>());
        links.values().removeIf(pending -> !pending.link.isOpen());
        final Link taken = links.values().stream().map(Pending::link).filter(link -> link.established().isDone()).findFirst()
            .orElse(links.isEmpty() ? null : links.firstEntry().getValue().link);
        if (taken != null) {
            links.remove(taken.number());
        }
        if (links.isEmpty()) {
            byPeer.remove(peer);
        }
        return taken;
    }

    /** Ends the connects that nobody has taken over in time; the thread of connections, again and again. */
    void endAbandoned(final long nowNs) {
        removeAbandoned(nowNs).forEach(link -> link.fail(new IOException("the connect was abandoned")));
    }

    private synchronized List<Link> removeAbandoned(final long nowNs) {
        final List<Link> abandoned = new ArrayList<>();
        byPeer.values().removeIf(links -> {
            links.values().removeIf(pending -> nowNs - pending.endNs >= 0 && abandoned.add(pending.link));
            return links.isEmpty();
        });
        return abandoned;
    }
}
