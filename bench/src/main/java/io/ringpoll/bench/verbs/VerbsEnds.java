package io.ringpoll.bench.verbs;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.lifecycle.NativeResource;
import io.ringpoll.verbs.AccessFlag;
import io.ringpoll.verbs.ConnectionEventType;
import io.ringpoll.verbs.ConnectionId;
import io.ringpoll.verbs.ConnectionParameters;
import io.ringpoll.verbs.Listener;
import io.ringpoll.verbs.MemoryRegion;
import io.ringpoll.verbs.ProtectionDomain;
import io.ringpoll.verbs.QueuePair;
import io.ringpoll.verbs.QueuePairAttributes;
import java.net.InetSocketAddress;
import java.util.ArrayDeque;
import java.util.Deque;

/** A connection of verbs with both ends in this process, with memory at each. Used by one thread. */
final class VerbsEnds implements AutoCloseable {
    static final int DEPTH = 64;
    static final int MEMORY_BYTES = 1 << 16;
    private static final int TIMEOUT_MS = 30_000;

    /** The last one is closed first. */
    private final Deque<NativeResource> opened = new ArrayDeque<>();
    private final WorkCompletions records = WorkCompletions.allocate(DEPTH);
    private final WorkCompletion completion = new WorkCompletion();
    final QueuePair client;
    final QueuePair server;
    final VerbsCompletionQueue clientQueue;
    final VerbsCompletionQueue serverQueue;
    final MemoryRegion clientMemory;
    final MemoryRegion serverMemory;

    VerbsEnds(final String host) {
        boolean connected = false;
        try (Listener listener = Listener.listen(new InetSocketAddress(host, 0), 1)) {
            final ConnectionId clientId =
                opened(ConnectionId.resolve(new InetSocketAddress(host, listener.port()), TIMEOUT_MS));
            final ProtectionDomain domain = opened(ProtectionDomain.create(clientId.context()));
            clientMemory = opened(memory(domain));
            serverMemory = opened(memory(domain));
            clientQueue = opened(VerbsCompletionQueue.create(clientId.context(), "bench-client", 2 * DEPTH, null));
            serverQueue = opened(VerbsCompletionQueue.create(clientId.context(), "bench-server", 2 * DEPTH, null));
            client = opened(clientId.createQueuePair(domain, attributes(clientQueue)));
            clientId.connect(ConnectionParameters.create());
            final ConnectionId serverId = opened(listener.nextRequest(TIMEOUT_MS).orElseThrow());
            server = opened(serverId.createQueuePair(domain, attributes(serverQueue)));
            serverId.accept(ConnectionParameters.create());
            requireEstablished(clientId);
            requireEstablished(serverId);
            connected = true;
        } finally {
            if (!connected) {
                close();
            }
        }
    }

    private static MemoryRegion memory(final ProtectionDomain domain) {
        return domain.allocate(MEMORY_BYTES, AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE, AccessFlag.REMOTE_READ);
    }

    private static QueuePairAttributes attributes(final VerbsCompletionQueue queue) {
        return QueuePairAttributes.create(queue).maxSendRequests(DEPTH).maxReceiveRequests(DEPTH);
    }

    private static void requireEstablished(final ConnectionId id) {
        final ConnectionEventType type = id.nextEvent(TIMEOUT_MS).orElseThrow().type();
        if (type != ConnectionEventType.ESTABLISHED) {
            throw new IllegalStateException("no connection: " + type);
        }
    }

    /** Polls until there have been as many completions; each must be a success. */
    void await(final CompletionQueue queue, final int count) {
        int left = count;
        while (left > 0) {
            final int polled = queue.poll(records, 0, Math.min(left, DEPTH));
            if (polled < 0) {
                throw new IllegalStateException(queue.name() + " has failed: " + polled);
            }
            for (int i = 0; i < polled; i++) {
                if (!records.show(i, completion).isSuccess()) {
                    throw new IllegalStateException("an operation failed: " + completion);
                }
            }
            left -= polled;
        }
    }

    @Override
    public void close() {
        while (!opened.isEmpty()) {
            opened.pop().close();
        }
    }

    private <T extends NativeResource> T opened(final T resource) {
        opened.push(resource);
        return resource;
    }
}
