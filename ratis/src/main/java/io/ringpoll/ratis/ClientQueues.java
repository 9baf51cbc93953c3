package io.ringpoll.ratis;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.apache.ratis.thirdparty.com.google.protobuf.ByteString;

/**
 * The queues of a server's clients: one for each client, over all its connections. After a lost connection, the engine may still
 * process a request of it: a request that the client sends again would pass it, because the engine answers the repeated one at
 * once and would append the next one first.
 *
 * <p>A queue exists until its last connection has left it. Thread-safe.
 */
final class ClientQueues {
    private final Executor executor;
    private final Map<ByteString, Queue> byClient = new HashMap<>();

    /** A queue with the number of its connections, which the lock of the map guards. */
    private static final class Queue {
        private final SerialExecutor tasks;
        private int connections;

        private Queue(final Executor executor) {
            tasks = new SerialExecutor(executor);
        }
    }

    /** Creates queues whose tasks run on the threads of an executor. */
    ClientQueues(final Executor executor) {
        this.executor = executor;
    }

    /** The queue of a client, for a connection that calls {@link #leave} once. */
    synchronized SerialExecutor enter(final ByteString client) {
        final Queue queue = byClient.computeIfAbsent(client, id -> new Queue(executor));
        queue.connections++;
        return queue.tasks;
    }

    /** Removes a queue after the last task of its last connection. */
    synchronized void leave(final ByteString client) {
        if (--byClient.get(client).connections == 0) {
            byClient.remove(client);
        }
    }

    synchronized int size() {
        return byClient.size();
    }
}
