package io.ringpoll.internal.transport;

import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.HandlerOptions;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.poller.PollerCounters;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WorkCompletion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.agrona.collections.Int2ObjectHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls a node's completion queues, with a ring and handlers. It belongs to one node, or is shared by nodes of this process, so
 * that a message between two of them wakes no thread.
 * <pre>
 *   queues of node A -.                                          .-&gt; paths of node A
 *                     |-&gt; poller -&gt; ring -&gt; by the queue index |
 *   queues of node B -'                                          '-&gt; paths of node B
 * </pre>
 *
 * <p>Thread-safe; the paths run on the threads of {@link PollerConfig#handlers()}.
 */
final class NodePoller {
    private static final Logger LOG = LoggerFactory.getLogger(NodePoller.class);
    private static final String SHARED_NAME = "shared-rdma-";
    private static final int RING_SIZE = 4096;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The shared pollers; guarded by this map, as are their use counts and {@link #nodes}. */
    private static final Map<PollerConfig, NodePoller> SHARED = new HashMap<>();

    private static int sharedBefore;

    private final PollerConfig config;
    /** Null unless enabled. */
    private final WaitCheck check;
    private final Pipeline pipeline;
    private int nodes;

    /** Held while a queue is added and registered: a completion that arrives earlier waits for it. */
    private final Object entering = new Object();
    private volatile Int2ObjectHashMap<Entry> byIndex = new Int2ObjectHashMap<>();

    /** A queue and its node's paths. Completions of a leaving node are dropped. */
    private record Entry(CompletionQueue queue, NodePaths paths, boolean leaving) {
        Entry left() {
            return new Entry(queue, paths, true);
        }
    }

    private NodePoller(final String name, final PollerConfig config, final boolean countersFile) {
        this.config = config;
        check = WaitCheck.ofProperty(name);
        pipeline = start(name, countersFile);
    }

    /**
     * Returns the poller of a node.
     *
     * @param config of the node
     * @return its own poller, or the one shared by all nodes with equal settings; ended by {@link #leave}
     * @throws RuntimeException as {@link PipelineBuilder#start()}
     */
    static NodePoller of(final NodeConfig config) {
        final PollerConfig settings = config.poller();
        if (!settings.shared()) {
            return new NodePoller(config.name(), settings, config.countersFile());
        }
        synchronized (SHARED) {
            NodePoller poller = SHARED.get(settings);
            if (poller == null || poller.pipeline.failure() != null) {
                poller = new NodePoller(SHARED_NAME + sharedBefore++, settings, config.countersFile());
                SHARED.put(settings, poller);
            }
            poller.nodes++;
            return poller;
        }
    }

    private Pipeline start(final String name, final boolean countersFile) {
        final PipelineBuilder builder = Pipeline.builder().name(name).ringSize(RING_SIZE).pollerName(name + "-poller")
            .pollerCpu(config.cpu()).idleStrategy(config.newIdleStrategy())
            .onFailure((failed, where, failure) -> onDeath(name, where, failure));
        if (!countersFile) {
            builder.withoutCountersFile();
        }
        switch (config.handlers()) {
            case POLLER -> builder.runToCompletion().onAll(new Distributor(), named(name + "-handler"));
            case ONE -> builder.onAll(new Distributor(), named(name + "-handler"));
            case PARALLEL -> builder.onReceive(new Distributor(), named(name + "-receive"))
                .onSendWrite(new Distributor(), named(name + "-send-write"))
                .onError(new Distributor(), named(name + "-error"));
        }
        return builder.start();
    }

    /** Ends the connections of all nodes at once: nothing is received any more. Called once, on the thread that dies. */
    private void onDeath(final String name, final String thread, final Throwable failure) {
        LOG.error("{}: {} has died: all its connections end, and there are no new ones", name, thread, failure);
        final Set<NodePaths> nodesOfQueues = new HashSet<>();
        byIndex.forEachInt((index, entry) -> nodesOfQueues.add(entry.paths()));
        nodesOfQueues.forEach(paths -> paths.onDeath(deathOf(thread, failure)));
    }

    private static IOException deathOf(final String thread, final Throwable failure) {
        return new IOException("thread " + thread + " of this side has died: " + failure, failure);
    }

    /** The reason for which no queue is polled any more; null while the threads live. */
    IOException death() {
        final Throwable failure = pipeline.failure();
        return failure == null ? null : deathOf(pipeline.pollerThread().getName(), failure);
    }

    private Consumer<HandlerOptions> named(final String handlerName) {
        return options -> {
            options.name(handlerName);
            if (config.handlers() != HandlerThreads.POLLER) {
                options.waitStrategy(config.handlerWait());
            }
        };
    }

    /**
     * Starts to poll a queue.
     *
     * @param queue polled by this poller only
     * @param paths handle its completions
     * @return the index that its completions carry
     * @throws IllegalStateException as {@link Pipeline#addQueue}
     */
    int add(final CompletionQueue queue, final NodePaths paths) {
        synchronized (entering) {
            final int index = pipeline.addQueue(queue);
            final Int2ObjectHashMap<Entry> more = new Int2ObjectHashMap<>(byIndex);
            more.put(index, new Entry(queue, paths, false));
            byIndex = more;
            return index;
        }
    }

    /**
     * Removes a queue and waits until the poller no longer accesses it.
     *
     * @param index of the queue
     * @param queue no effect if it is not the queue with this index: it has been removed, and another one may have the index
     * @throws TimeoutException as {@link Pipeline#removeQueue}; call again
     */
    void remove(final int index, final CompletionQueue queue) throws TimeoutException {
        final Entry entry = byIndex.get(index);
        if (entry != null && entry.queue() == queue) {
            pipeline.removeQueue(entry.queue());
            synchronized (entering) {
                final Int2ObjectHashMap<Entry> fewer = new Int2ObjectHashMap<>(byIndex);
                fewer.remove(index);
                byIndex = fewer;
            }
        }
    }

    /**
     * Ends a node's use of this poller: its paths are not called any more, and its queues are not polled. Not on a thread that
     * runs paths.
     *
     * @param paths     of the node
     * @param timeoutNs to wait for the end of the node's own poller
     * @throws TimeoutException if the poller or a handler still uses the node, which must not be released
     */
    void leave(final NodePaths paths, final long timeoutNs) throws TimeoutException {
        if (!config.shared()) {
            if (!ends(timeoutNs)) {
                throw new TimeoutException("a handler of " + pipeline.pollerThread().getName() + " does not return");
            }
            return;
        }
        for (final Map.Entry<Integer, CompletionQueue> queue : cutOff(paths).entrySet()) {
            remove(queue.getKey(), queue.getValue());
        }
        final boolean last;
        synchronized (SHARED) {
            last = --nodes == 0;
            if (last) {
                SHARED.remove(config, this);
            }
        }
        if (last && !ends(timeoutNs)) {
            LOG.warn("{} does not end", pipeline.pollerThread().getName());
        }
    }

    /** Stops the calls of a node's paths; returns its queues by index. */
    private Map<Integer, CompletionQueue> cutOff(final NodePaths paths) {
        final Map<Integer, CompletionQueue> queues = new HashMap<>();
        synchronized (entering) {
            final Int2ObjectHashMap<Entry> cut = new Int2ObjectHashMap<>(byIndex);
            // Not by an iterator: a map has one iterator, which its copies for other threads share.
            byIndex.forEachInt((index, entry) -> {
                if (entry.paths() == paths) {
                    queues.put(index, entry.queue());
                    cut.put(index, entry.left());
                }
            });
            byIndex = cut;
        }
        return queues;
    }

    private boolean ends(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        pipeline.close(timeoutNs);
        if (check != null) {
            check.end();
        }
        final List<Thread> threads = new ArrayList<>(pipeline.handlerThreads());
        threads.add(pipeline.pollerThread());
        // A second close does not wait.
        while (threads.stream().anyMatch(Thread::isAlive) && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(PAUSE_NS);
        }
        return threads.stream().noneMatch(Thread::isAlive);
    }

    /** Whether paths run on the calling thread, which cannot wait for them. */
    boolean isCurrentThread() {
        return Thread.currentThread() == pipeline.pollerThread() || pipeline.handlerThreads().contains(Thread.currentThread());
    }

    /** Whether paths of nodes that share a poller run on the calling thread. */
    static boolean isSharedThread() {
        synchronized (SHARED) {
            return SHARED.values().stream().anyMatch(NodePoller::isCurrentThread);
        }
    }

    /** The debug check of waits; null unless enabled. */
    WaitCheck waitCheck() {
        return check;
    }

    /** The counters of the polling thread. */
    PollerCounters counters() {
        return pipeline.pollerCounters();
    }

    /** Number of polled queues. */
    int queues() {
        return byIndex.size();
    }

    private NodePaths pathsOf(final int queueIndex) {
        Entry entry = byIndex.get(queueIndex);
        if (entry == null) {
            synchronized (entering) {
                entry = byIndex.get(queueIndex);
            }
        }
        return entry == null || entry.leaving() ? null : entry.paths();
    }

    /** Dispatches each completion to its node. Completions of a removed queue are dropped. */
    private final class Distributor implements CompletionHandler {
        private WaitCheck.Call call;

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            final NodePaths paths = pathsOf(completion.queueIndex());
            if (paths == null) {
                return;
            }
            if (check == null) {
                paths.onCompletion(completion, sequence, endOfBatch);
            } else {
                checked(paths, completion, sequence, endOfBatch);
            }
        }

        private void checked(final NodePaths paths, final WorkCompletion completion, final long sequence,
            final boolean endOfBatch) {
            if (call == null) {
                call = check.register();
            }
            call.enter();
            try {
                paths.onCompletion(completion, sequence, endOfBatch);
            } finally {
                final AssertionError violation = call.exit();
                if (violation != null) {
                    paths.onViolation(completion, violation);
                }
            }
        }

        @Override
        public void onQueueFault(final int queueIndex, final String queueName, final int code) {
            final NodePaths paths = pathsOf(queueIndex);
            if (paths != null) {
                paths.onQueueFault(queueIndex, queueName, code);
            }
        }
    }
}
