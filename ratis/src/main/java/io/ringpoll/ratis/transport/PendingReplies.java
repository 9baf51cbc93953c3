package io.ringpoll.ratis.transport;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The requests of one connection that have not been answered, by their correlation id. Guarded by the connection's lock. */
final class PendingReplies {
    private final Link link;
    private final Map<Long, Reply> byId = new HashMap<>();
    private long nextId = 1;

    PendingReplies(final Link link) {
        this.link = link;
    }

    /** Expects one more reply. */
    Reply add(final long timeoutNs) {
        final Reply reply = new Reply(link, nextId++, new CompletableFuture<>(), System.nanoTime(), timeoutNs);
        byId.put(reply.correlationId(), reply);
        return reply;
    }

    /** The reply of an id, which is waited for no more; null if it was not. */
    Reply remove(final long correlationId) {
        return byId.remove(correlationId);
    }

    /** Those whose time has passed; they stay. */
    List<Reply> overdue(final long nowNs) {
        List<Reply> overdue = List.of();
        for (final Reply reply : byId.values()) {
            if (reply.isOverdue(nowNs)) {
                overdue = overdue.isEmpty() ? new ArrayList<>() : overdue;
                overdue.add(reply);
            }
        }
        return overdue;
    }

    /** All of them, which are waited for no more. */
    List<Reply> removeAll() {
        final List<Reply> all = new ArrayList<>(byId.values());
        byId.clear();
        return all;
    }
}
