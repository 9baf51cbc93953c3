package io.ringpoll.internal.transport;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
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
    private final long keepMs;
    /** Those of each peer, by their numbers: it accepts them in this order. */
    private final Map<String, TreeMap<Integer, Link>> byPeer = new HashMap<>();

    /** Creates an empty map whose connects end after a time, established or not. */
    PendingConnects(final long keepMs) {
        this.keepMs = keepMs;
    }

    /** Keeps a connect to a peer. */
    void keep(final String peer, final Link link) {
        synchronized (this) {
            byPeer.computeIfAbsent(peer, first -> new TreeMap<>()).put(link.number(), link);
        }
        CompletableFuture.delayedExecutor(keepMs, TimeUnit.MILLISECONDS).execute(() -> {
            if (remove(peer, link)) {
                link.fail(new IOException("the connect was abandoned"));
            }
        });
    }

    /**
     * Removes a connect to a peer: one that is established, or else the one that was requested first. Null if there is none, or
     * all have failed.
     */
    synchronized Link take(final String peer) {
        final TreeMap<Integer, Link> links = byPeer.getOrDefault(peer, new TreeMap<>());
        links.values().removeIf(link -> !link.isOpen());
        final Link taken = links.values().stream().filter(link -> link.established().isDone()).findFirst()
            .orElse(links.isEmpty() ? null : links.firstEntry().getValue());
        if (taken != null) {
            links.remove(taken.number());
        }
        if (links.isEmpty()) {
            byPeer.remove(peer);
        }
        return taken;
    }

    private synchronized boolean remove(final String peer, final Link link) {
        final TreeMap<Integer, Link> links = byPeer.get(peer);
        if (links == null || !links.remove(link.number(), link)) {
            return false;
        }
        if (links.isEmpty()) {
            byPeer.remove(peer);
        }
        return true;
    }
}
