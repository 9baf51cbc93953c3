package io.ringpoll.internal.transport;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Connects whose callers have been interrupted, as the engine does at the end of each election, or have waited for their
 * time-out. They continue, and the next callers take them over. A peer that is about to accept one that has been ended finds no
 * requester, and its work is lost: one that needs longer for the requests of all its peers than they wait would never accept
 * any. One that nobody takes over ends. Thread-safe.
 *
 * <p>For each peer there are at most as many as callers that waited for it at the same time, for the log and for streams, for
 * instance: a caller takes one over, if there is one, before it requests another.
 */
final class PendingConnects {
    private final long keepNs;
    /** Those of each peer, by their numbers: it accepts them in this order. */
    private final Map<String, TreeMap<Long, Pending>> byPeer = new HashMap<>();

    private record Pending(Link link, long endNs) {
    }

    /** Creates an empty map whose connects end after a time, established or not. */
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
