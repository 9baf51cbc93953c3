package io.ringpoll.internal.transport;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/** The outstanding requests of one connection by correlation id. Guarded by the connection's lock. */
final class PendingReplies {
    private final Link link;
    private final Map<Long, Reply> byId = new HashMap<>();
    private long nextId = 1;

    PendingReplies(final Link link) {
        this.link = link;
    }

    /** Adds an outstanding request. */
    Reply add(final MessageType type, final long timeoutNs) {
        final Reply reply = new Reply(link, type, nextId++, new CompletableFuture<>(), System.nanoTime(), timeoutNs);
        byId.put(reply.correlationId(), reply);
        return reply;
    }

    /**
     * Removes the reply that a received frame completes.
     *
     * @return null if there is none
     * @throws ProtocolException if the frame has the type of another request; the reply remains
     */
    Reply remove(final FrameHeader header) throws ProtocolException {
        final Reply reply = byId.get(header.correlationId());
        if (reply != null && reply.type().code() != header.type()) {
            throw new ProtocolException("a reply of type " + header.type() + " to a request " + reply.type());
        }
        return remove(header.correlationId());
    }

    /** Removes the reply with an id; returns null if there is none. */
    Reply remove(final long correlationId) {
        return byId.remove(correlationId);
    }

    /** The replies that have timed out; they are not removed. */
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

    int size() {
        return byId.size();
    }

    /** Removes all replies. */
    List<Reply> removeAll() {
        final List<Reply> all = new ArrayList<>(byId.values());
        byId.clear();
        return all;
    }
}
