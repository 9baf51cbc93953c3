package io.ringpoll.internal.transport;

import java.io.IOException;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Connects whose callers have been interrupted, as the engine does at the end of each election, or have waited for their
 * time-out. They continue, and the next caller takes them over. A peer that is about to accept one that has been ended finds no
 * requester, and its work is lost: one that needs longer for the requests of all its peers than they wait would never accept
 * any. One that nobody takes over ends. Thread-safe.
 */
final class PendingConnects {
    private final long keepMs;
    private final Map<String, Link> byPeer = new ConcurrentHashMap<>();

    /** Creates an empty map whose connects end after a time, established or not. */
    PendingConnects(final long keepMs) {
        this.keepMs = keepMs;
    }

    /**
     * Keeps a connect to a peer. Of two, as for the log and for a stream to one server, the one that was requested first
     * continues: its peer accepts it first. If the later one replaced it, none would last longer than two time-outs.
     */
    void keep(final String peer, final Link link) {
        final Link other = byPeer.put(peer, link);
        if (other != null && other.isOpen() && other.number() < link.number()) {
            keep(peer, other);
            return;
        }
        if (other != null) {
            abandon(other);
        }
        CompletableFuture.delayedExecutor(keepMs, TimeUnit.MILLISECONDS).execute(() -> {
            if (byPeer.remove(peer, link)) {
                abandon(link);
            }
        });
    }

    /** Removes the connect to a peer; null if there is none, or it has failed. */
    Link take(final String peer) {
        final Link link = byPeer.remove(peer);
        return link != null && link.isOpen() ? link : null;
    }

    private static void abandon(final Link link) {
        link.fail(new IOException("the connect was abandoned"));
    }
}
