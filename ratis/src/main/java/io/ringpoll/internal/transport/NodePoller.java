package io.ringpoll.internal.transport;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.pipeline.InvokedAgent;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.HandlerOptions;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.poller.PollerCounters;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Polls a node's completion queues, with a ring and handlers. It belongs to one node, or is shared by nodes of this process, so
 * that a message between two of them wakes no thread.
 * <pre>
 *   queues of node A -.                                    .-&gt; links of node A
 *                     |-&gt; poller -&gt; ring -&gt; by the queue |
 *   queues of node B -'                                    '-&gt; links of node B
 * </pre>
 *
 * <p>Thread-safe; completions are handled on the threads of {@link PollerConfig#handlers()}. If that is the poller's thread, the
 * poller has two {@link PollingThreads}, which take turns.
 */
final class NodePoller {
    private static final Logger LOG = LoggerFactory.getLogger(NodePoller.class);
    private static final String SHARED_NAME = "shared-rdma-";
    private static final int RING_SIZE = 4096;
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);
    /** Short: the thread of the connections waits for it, and serves all other connections and the listener, too. */
    private static final long REMOVE_NS = TimeUnit.MILLISECONDS.toNanos(20);

    /** The shared pollers; guarded by this map, as are the additions and removals of their nodes. */
    private static final Map<PollerConfig, NodePoller> SHARED = new HashMap<>();

    private static int sharedBefore;

    private final PollerConfig config;
    /** Null unless enabled. */
    private final WaitCheck check;
    private final Pipeline pipeline;
    /** The poller of {@link #threads}; both are null if the handlers have threads of their own. */
    private final InvokedAgent agent;
    private final PollingThreads threads;
    private final Set<Node> nodes = ConcurrentHashMap.newKeySet();

    private NodePoller(final String name, final PollerConfig config, final boolean countersFile) {
        this.config = config;
        check = WaitCheck.ofProperty(name);
        try {
            pipeline = start(name, countersFile);
            agent = config.handlers() == HandlerThreads.POLLER ? (InvokedAgent) pipeline.agent() : null;
            threads = agent == null ? null : startThreads();
        } catch (final RuntimeException | Error failure) {
            endCheck();
            throw failure;
        }
    }

    /**
     * Returns the poller of a node.
     *
     * @param node a new one
     * @return its own poller, or the one shared by all nodes with equal settings; ended by {@link #leave}
     * @throws RuntimeException as {@link PipelineBuilder#start()}
     */
    static NodePoller of(final Node node) {
        final NodeConfig config = node.config();
        final PollerConfig settings = config.poller();
        if (!settings.shared()) {
            final NodePoller own = new NodePoller(config.name(), settings, config.countersFile());
            own.nodes.add(node);
            return own;
        }
        synchronized (SHARED) {
            NodePoller poller = SHARED.get(settings);
            if (poller == null || poller.pipeline.failure() != null) {
                poller = new NodePoller(SHARED_NAME + sharedBefore++, settings, config.countersFile());
                SHARED.put(settings, poller);
            }
            poller.nodes.add(node);
            return poller;
        }
    }

    private PollingThreads startThreads() {
        try {
            return new PollingThreads(agent.roleName(), config.cpu(), agent, pipeline.agentIdleStrategy());
        } catch (final RuntimeException | Error failure) {
            pipeline.close();
            throw failure;
        }
    }

    private Pipeline start(final String name, final boolean countersFile) {
        final PipelineBuilder builder = Pipeline.builder().name(name).ringSize(RING_SIZE).pollerName(name + "-poller")
            .idleStrategy(config.newIdleStrategy())
            .onFailure((failed, where, failure) -> onDeath(name, where, failure));
        if (!countersFile) {
            builder.withoutCountersFile();
        }
        switch (config.handlers()) {
            case POLLER -> builder.asAgent().runToCompletion().onAll(new Distributor(), named(name + "-handler"));
            case ONE -> builder.onAll(new Distributor(), named(name + "-handler"));
            case PARALLEL -> builder.onReceive(new Distributor(), named(name + "-receive"))
                .onSendWrite(new Distributor(), named(name + "-send-write"))
                .onError(new Distributor(), named(name + "-error"));
        }
        if (config.handlers() != HandlerThreads.POLLER) {
            builder.pollerCpu(config.cpu());
        }
        return builder.start();
    }

    /** Ends the connections of all nodes at once: nothing is received any more. Called once, on the thread that dies. */
    private void onDeath(final String name, final String thread, final Throwable failure) {
        LOG.error("{}: {} has died: all its connections end, and there are no new ones", name, thread, failure);
        nodes.forEach(node -> node.endAll(deathOf(thread, failure)));
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
     * @param link  handles its completions
     * @throws IllegalStateException as {@link Pipeline#addQueue(CompletionQueue, Object)}
     */
    void add(final CompletionQueue queue, final Link link) {
        pipeline.addQueue(queue, link);
    }

    /**
     * Removes a queue and waits for some milliseconds until the poller no longer accesses it; no effect if it is not polled.
     *
     * @throws TimeoutException if the poller has not removed it yet, because a handler has not returned; call again later
     */
    void remove(final CompletionQueue queue) throws TimeoutException {
        pipeline.removeQueue(queue, REMOVE_NS);
    }

    /**
     * Ends a node's use of this poller; its queues have been removed. Not on a thread that handles completions.
     *
     * @param node      has no links any more
     * @param timeoutNs to wait for the end of the node's own poller
     * @throws TimeoutException if the poller or a handler still uses the node, which must not be released
     */
    void leave(final Node node, final long timeoutNs) throws TimeoutException {
        if (!config.shared()) {
            if (!ends(timeoutNs)) {
                throw new TimeoutException("a handler of " + pipeline.pollerThread().getName() + " does not return");
            }
            return;
        }
        final boolean last;
        synchronized (SHARED) {
            last = nodes.remove(node) && nodes.isEmpty();
            if (last) {
                SHARED.remove(config, this);
            }
        }
        if (last && !ends(timeoutNs)) {
            LOG.warn("{} does not end", pipeline.pollerThread().getName());
        }
    }

    private boolean ends(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        pipeline.close(timeoutNs);
        endCheck();
        if (threads != null) {
            threads.end();
        }
        // A second close does not wait.
        while (isInUse() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(PAUSE_NS);
        }
        return !isInUse();
    }

    /** Whether a handler may still be called. */
    private boolean isInUse() {
        return agent != null ? agent.isAlive() :
            pipeline.pollerThread().isAlive() || pipeline.handlerThreads().stream().anyMatch(Thread::isAlive);
    }

    private void endCheck() {
        if (check != null) {
            check.end();
        }
    }

    /** Whether completions are handled on the calling thread, which cannot wait for that. */
    boolean isCurrentThread() {
        if (agent != null) {
            // A request that a polling thread processes between two duty cycles may wait: the other thread takes over.
            return agent.isCaller();
        }
        return Thread.currentThread() == pipeline.pollerThread() || pipeline.handlerThreads().contains(Thread.currentThread());
    }

    /** Whether completions of nodes that share a poller are handled on the calling thread. */
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

    /** Passes each completion to the link of its queue. */
    private final class Distributor implements CompletionHandler {
        private WaitCheck.Call call;

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            final Link link = (Link) completion.attachment();
            if (check == null) {
                LinkCompletions.handle(link, completion);
                return;
            }
            if (call == null || !call.isOfCurrentThread()) {
                call = check.ofCurrentThread();
            }
            call.enter();
            try {
                LinkCompletions.handle(link, completion);
            } finally {
                final AssertionError violation = call.exit();
                if (violation != null) {
                    link.fail(new IOException("a handler of " + link.name() + " has waited", violation));
                }
            }
        }

        @Override
        public void onQueueFault(final int queueIndex, final String queueName, final int code, final Object attachment) {
            ((Link) attachment).onQueueFault(queueName + " has failed with code " + code);
        }
    }
}
