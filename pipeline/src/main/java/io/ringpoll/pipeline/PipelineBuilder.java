package io.ringpoll.pipeline;

import static io.ringpoll.verbs.CompletionPath.ERROR;
import static io.ringpoll.verbs.CompletionPath.RECEIVE;
import static io.ringpoll.verbs.CompletionPath.SEND_WRITE;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;

/**
 * Describes a pipeline: the queues, the poller, the ring and the handlers of the three paths.
 *
 * <p>Used by one thread. {@link #start()} checks everything at once and says everything that is wrong.
 */
public final class PipelineBuilder {
    private final List<CompletionQueue> queues = new ArrayList<>();
    private final List<HandlerDraft> handlers = new ArrayList<>();
    private final Set<CompletionPath> discarded = EnumSet.noneOf(CompletionPath.class);
    private int ringSize = 8192;
    private int batchLimit = 32;
    private int pollerCpu = ThreadPlacement.ANY_CPU;
    private String pollerName = "ringpoll-poller";
    private IdleStrategy idleStrategy;
    private int cores = Runtime.getRuntime().availableProcessors();
    private int otherHotThreads = 1;

    /** A handler as the user has described it. */
    private record HandlerDraft(Set<CompletionPath> paths, CompletionHandler handler, HandlerOptions options) {
    }

    PipelineBuilder() {
    }

    /**
     * Sets the number of slots, by default 8,192.
     *
     * @param slots a power of two
     * @return this
     */
    public PipelineBuilder ringSize(final int slots) {
        this.ringSize = slots;
        return this;
    }

    /**
     * Sets how many completions of one queue are taken in one round at most, by default 32.
     *
     * @param completions at least 1 and at most the ring's size
     * @return this
     */
    public PipelineBuilder batchLimit(final int completions) {
        this.batchLimit = completions;
        return this;
    }

    /**
     * Adds a completion queue; more can be added while the pipeline runs.
     *
     * @param queue that nobody else polls
     * @return this
     */
    public PipelineBuilder queue(final CompletionQueue queue) {
        queues.add(queue);
        return this;
    }

    /**
     * Pins the polling thread.
     *
     * @param cpu number as in {@code /proc/cpuinfo}
     * @return this
     */
    public PipelineBuilder pollerCpu(final int cpu) {
        this.pollerCpu = cpu;
        return this;
    }

    /**
     * Names the polling thread and its counters.
     *
     * @param name for people
     * @return this
     */
    public PipelineBuilder pollerName(final String name) {
        this.pollerName = name;
        return this;
    }

    /**
     * Chooses what the polling thread does when no queue has anything; by default it spins if the cores allow it.
     *
     * @param strategy that no other thread uses
     * @return this
     */
    public PipelineBuilder idleStrategy(final IdleStrategy strategy) {
        this.idleStrategy = strategy;
        return this;
    }

    /**
     * Says what the default waits may count on.
     *
     * @param availableCores  cores for this process, by default what the JVM sees
     * @param otherHotThreads threads besides poller and handlers that run at full speed, by default 1: the one that posts
     * @return this
     */
    public PipelineBuilder cores(final int availableCores, final int otherHotThreads) {
        this.cores = availableCores;
        this.otherHotThreads = otherHotThreads;
        return this;
    }

    /**
     * Sets a handler for successful sends, writes, reads, flushes and atomics.
     *
     * @param handler on its own thread
     * @return this
     */
    public PipelineBuilder onSendWrite(final CompletionHandler handler) {
        return on(EnumSet.of(SEND_WRITE), handler, options -> { });
    }

    /**
     * Sets a handler for successful receives.
     *
     * @param handler on its own thread
     * @return this
     */
    public PipelineBuilder onReceive(final CompletionHandler handler) {
        return on(EnumSet.of(RECEIVE), handler, options -> { });
    }

    /**
     * Sets a handler for failed completions of either side, and for queues that failed.
     *
     * @param handler on its own thread
     * @return this
     */
    public PipelineBuilder onError(final CompletionHandler handler) {
        return on(EnumSet.of(ERROR), handler, options -> { });
    }

    /**
     * Sets a handler for any set of paths.
     *
     * @param paths   at least one
     * @param handler on its own thread
     * @param options given to be filled in
     * @return this
     */
    public PipelineBuilder on(
        final Set<CompletionPath> paths, final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        final HandlerOptions filled = new HandlerOptions();
        options.accept(filled);
        handlers.add(new HandlerDraft(paths.isEmpty() ? Set.of() : EnumSet.copyOf(paths), handler, filled));
        return this;
    }

    /**
     * Says that the completions of a path are to be passed by without a handler.
     *
     * @param path that would be refused without one
     * @return this
     */
    public PipelineBuilder discard(final CompletionPath path) {
        discarded.add(path);
        return this;
    }

    /**
     * Checks the description, and starts the handlers' threads and then the poller's.
     *
     * @return the running pipeline
     * @throws IllegalArgumentException with everything that is wrong, a line each
     */
    public Pipeline start() {
        final List<String> faults = faults();
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", faults));
        }
        final HandlerWait defaultWait = defaultWait();
        final List<HandlerSpec> specs = new ArrayList<>();
        for (final HandlerDraft draft : handlers) {
            specs.add(spec(draft, defaultWait));
        }
        final IdleStrategy idle = idleStrategy != null ? idleStrategy : defaultIdleStrategy(defaultWait);
        final Pipeline pipeline =
            new Pipeline(new CompletionSlab(ringSize), batchLimit, specs, new PollerSpec(pollerName, pollerCpu, idle));
        queues.forEach(pipeline::addQueue);
        pipeline.start();
        return pipeline;
    }

    /**
     * The wait that handlers get for which none is set.
     *
     * @return by the cores, and the threads described so far
     */
    public HandlerWait defaultWait() {
        return HandlerWait.forCores(cores, 1 + handlers.size() + otherHotThreads);
    }

    private List<String> faults() {
        final List<String> faults = new ArrayList<>();
        if (ringSize < 2 || ringSize > CompletionSlab.MAX_CAPACITY || Integer.bitCount(ringSize) != 1) {
            faults.add("ring size " + ringSize + " is not a power of two from 2 to " + CompletionSlab.MAX_CAPACITY);
        }
        if (batchLimit < 1 || batchLimit > ringSize) {
            faults.add("batch limit " + batchLimit + " is not from 1 to the ring size, " + ringSize);
        }
        final Set<CompletionPath> unhandled = EnumSet.allOf(CompletionPath.class);
        unhandled.removeAll(discarded);
        for (final HandlerDraft draft : handlers) {
            unhandled.removeAll(draft.paths);
            if (draft.paths.isEmpty()) {
                faults.add("a handler has no path");
            }
        }
        for (final CompletionPath path : unhandled) {
            faults.add("the " + label(path) + " path has no handler: set one, or discard the path");
        }
        return faults;
    }

    private static HandlerSpec spec(final HandlerDraft draft, final HandlerWait defaultWait) {
        final HandlerOptions options = draft.options;
        final HandlerWait wait = options.wait != null ? options.wait : defaultWait;
        final boolean own = options.waitStrategy != null;
        final WaitStrategy strategy = own ? options.waitStrategy : wait.newStrategy();
        final String name = options.roleName != null ? options.roleName : "ringpoll-" + label(draft.paths);
        return new HandlerSpec(
            name, draft.paths, draft.handler, strategy, own || wait.isSignalled(), options.failurePolicy, options.cpu);
    }

    private static IdleStrategy defaultIdleStrategy(final HandlerWait wait) {
        return switch (wait) {
            case BUSY_SPIN -> BusySpinIdleStrategy.INSTANCE;
            case YIELD -> YieldingIdleStrategy.INSTANCE;
            default -> new BackoffIdleStrategy();
        };
    }

    private static String label(final Set<CompletionPath> paths) {
        if (paths.size() == CompletionPath.values().length) {
            return "all";
        }
        final List<String> labels = new ArrayList<>();
        for (final CompletionPath path : paths) {
            labels.add(label(path));
        }
        return String.join("+", labels);
    }

    private static String label(final CompletionPath path) {
        return path.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
