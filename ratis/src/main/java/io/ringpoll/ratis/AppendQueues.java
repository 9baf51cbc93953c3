package io.ringpoll.ratis;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.server.RaftServer;

/** The queues of a server for entries, one for each group. Thread-safe. */
final class AppendQueues {
    private final RaftServer server;
    private final Executor executor;
    private final Map<RaftGroupId, AppendQueue> byGroup = new ConcurrentHashMap<>();

    /** Creates queues whose requests are passed on the threads of an executor. */
    AppendQueues(final RaftServer server, final Executor executor) {
        this.server = server;
        this.executor = executor;
    }

    /**
     * The queue of a group; null if the server does not have the group. It does not wait for a group that starts. The first
     * request of a group closes the queues of those that have been removed, for instance within the process.
     */
    AppendQueue of(final RaftGroupId group) {
        final AppendQueue queue = byGroup.get(group);
        if (queue != null || !hasGroup(group)) {
            return queue;
        }
        closeRemoved();
        return byGroup.computeIfAbsent(group, id -> new AppendQueue(executor, () -> division(id)));
    }

    /** Closes the queues of groups that have been removed: their requests get no reply of the engine. */
    void closeRemoved() {
        final Map<RaftGroupId, Object> removed = new HashMap<>();
        byGroup.forEach((id, queue) -> removed.put(id, queue.latestGroup()));
        server.getGroupIds().forEach(removed::remove);
        removed.forEach((id, latest) -> {
            final AppendQueue queue = byGroup.get(id);
            if (queue != null && queue.close(latest)) {
                byGroup.remove(id, queue);
            }
        });
    }

    private boolean hasGroup(final RaftGroupId group) {
        for (final RaftGroupId each : server.getGroupIds()) {
            if (each.equals(group)) {
                return true;
            }
        }
        return false;
    }

    /** The engine's object of a group, after its start; null if there is none: the engine reports it for each request. */
    private RaftServer.Division division(final RaftGroupId group) {
        try {
            return server.getDivision(group);
        } catch (final IOException e) {
            return null;
        }
    }
}
