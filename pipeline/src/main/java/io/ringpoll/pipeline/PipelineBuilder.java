package io.ringpoll.pipeline;

import io.ringpoll.pipeline.counters.CountersFile;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WorkCompletion;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.agrona.concurrent.IdleStrategy;

/**
 * Describes a pipeline: the queues, the poller, the ring and the handlers of the three paths.
 *
 * <p>Used by one thread, for one pipeline. {@link #start()} checks everything at once and says everything that is wrong.
 */
public final class PipelineBuilder {
    private static final int DEFAULT_BATCH_LIMIT = 32;
    private static final int RUN_TO_COMPLETION_BATCHES = 4;

    final List<CompletionQueue> queues = new ArrayList<>();
    final List<HandlerDraft> handlers = new ArrayList<>();
    final Set<CompletionPath> discarded = EnumSet.noneOf(CompletionPath.class);
    String name = "ringpoll";
    int ringSize = 8192;
    boolean runsToCompletion;
    private int batchLimit = DEFAULT_BATCH_LIMIT;
    private boolean batchLimitGiven;
    private boolean started;
    int pollerCpu = ThreadPlacement.ANY_CPU;
    String pollerName;
    Pinning pinning = (candidates, taken) -> Map.of();
    IdleStrategy idleStrategy;
    long stallThresholdNs = TimeUnit.MILLISECONDS.toNanos(1);
    long startTimeoutNs = TimeUnit.SECONDS.toNanos(10);
    long shutdownTimeoutNs = TimeUnit.SECONDS.toNanos(10);
    boolean countersFile = true;
    Path countersFolder;
    FailureListener failureListener = (pipeline, threadName, failure) -> { };
    Consumer<WorkCompletion> leftOver = completion -> { };
    int cores = Runtime.getRuntime().availableProcessors();
    int otherHotThreads = 1;
    BiFunction<Runnable, String, Thread> threads = Thread::new;

    PipelineBuilder() {
    }

    /**
     * Names the pipeline, its threads and its counters; by default {@code ringpoll}.
     *
     * @param pipelineName for people
     * @return this
     */
    public PipelineBuilder name(final String pipelineName) {
        this.name = pipelineName;
        return this;
    }

    /**
     * Sets the number of slots, by default 8,192: how far handlers may be behind the poller. Where they run to completion they
     * never are, and it is only the largest that {@link #batchLimit} may be.
     *
     * @param slots a power of two
     * @return this
     */
    public PipelineBuilder ringSize(final int slots) {
        this.ringSize = slots;
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
     * Sets how many completions of one queue are taken in one round at most, by default 32: no busy queue starves the others.
     *
     * @param completions at least 1 and at most the ring's size
     * @return this
     */
    public PipelineBuilder batchLimit(final int completions) {
        this.batchLimit = completions;
        this.batchLimitGiven = true;
        return this;
    }

    /**
     * Has all handlers run on the polling thread, each batch to its end before the next poll, rather than on threads of their
     * own: no hand-off, the lowest latency, and one hot thread. For handlers that are short: while one runs, nothing is polled.
     * A handler may post, {@link Pipeline#pause}, and add and remove queues; {@link Pipeline#drain} does not wait there. Options
     * that are for handlers' threads are refused: stages, CPUs, waits, batch limits and held slots.
     *
     * @return this
     */
    public PipelineBuilder runToCompletion() {
        this.runsToCompletion = true;
        return this;
    }

    /**
     * Pins the polling thread.
     *
     * @param cpu number as in {@code /proc/cpuinfo}; -1, the default, for any
     * @return this
     */
    public PipelineBuilder pollerCpu(final int cpu) {
        this.pollerCpu = cpu;
        return this;
    }

    /**
     * Pins every thread that is not given a CPU of its own, for instance {@code pin(AutoPinning.auto())} as the tuning module's
     * affinity plan advises; by default such threads run anywhere.
     *
     * @param how asked when the pipeline starts
     * @return this
     */
    public PipelineBuilder pin(final Pinning how) {
        this.pinning = how;
        return this;
    }

    /**
     * Names the polling thread and its counters; by default it is the pipeline's name and {@code -poller}.
     *
     * @param threadName for people
     * @return this
     */
    public PipelineBuilder pollerName(final String threadName) {
        this.pollerName = threadName;
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
     * Sets above which time a duty cycle of the poller is counted as a stall, by default 1 ms.
     *
     * @param thresholdNs in nanoseconds; negative to track no duty cycles and read no clock
     * @return this
     */
    public PipelineBuilder stallThreshold(final long thresholdNs) {
        this.stallThresholdNs = thresholdNs;
        return this;
    }

    /**
     * Says what the default waits may count on.
     *
     * @param availableCores  cores for this process, by default what the JVM sees
     * @param hotThreads      threads besides poller and handlers that run at full speed, by default 1: the one that posts
     * @return this
     */
    public PipelineBuilder cores(final int availableCores, final int hotThreads) {
        this.cores = availableCores;
        this.otherHotThreads = hotThreads;
        return this;
    }

    /**
     * Adds a handler for successful sends, writes, reads, flushes and atomics.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onSendWrite(final CompletionHandler handler) {
        return onSendWrite(handler, options -> { });
    }

    /**
     * Adds a handler for successful sends, writes, reads, flushes and atomics.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @param options given to be filled in
     * @return this
     */
    public PipelineBuilder onSendWrite(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.of(CompletionPath.SEND_WRITE), handler, options);
    }

    /**
     * Adds a handler for successful receives.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onReceive(final CompletionHandler handler) {
        return onReceive(handler, options -> { });
    }

    /**
     * Adds a handler for successful receives.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @param options given to be filled in
     * @return this
     */
    public PipelineBuilder onReceive(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.of(CompletionPath.RECEIVE), handler, options);
    }

    /**
     * Adds a handler for failed completions of either side, and for queues that failed.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onError(final CompletionHandler handler) {
        return onError(handler, options -> { });
    }

    /**
     * Adds a handler for failed completions of either side, and for queues that failed.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @param options given to be filled in
     * @return this
     */
    public PipelineBuilder onError(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.of(CompletionPath.ERROR), handler, options);
    }

    /**
     * Adds a handler for all completions.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onAll(final CompletionHandler handler) {
        return onAll(handler, options -> { });
    }

    /**
     * Adds a handler for all completions.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @param options given to be filled in
     * @return this
     */
    public PipelineBuilder onAll(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.allOf(CompletionPath.class), handler, options);
    }

    /**
     * Adds a handler for any set of paths; a path may have several handlers.
     *
     * @param paths   at least one
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @param options given to be filled in
     * @return this
     */
    public PipelineBuilder on(
        final Set<CompletionPath> paths, final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return add(paths, handler, options, -1);
    }

    /**
     * Adds a stage: a handler for the paths of the one described last, which sees each slot when that one has passed it and
     * holds it no more.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder then(final CompletionHandler handler) {
        return then(handler, options -> { });
    }

    /**
     * Adds a stage: a handler for the paths of the one described last, which sees each slot when that one has passed it and
     * holds it no more. {@link HandlerOptions#after} names further ones to wait for.
     *
     * @param handler on its own thread, or the poller's by {@link #runToCompletion()}
     * @param options given to be filled in
     * @return this
     * @throws IllegalStateException if no handler has been described before
     */
    public PipelineBuilder then(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        if (handlers.isEmpty()) {
            throw new IllegalStateException("then() follows a handler, and none has been described");
        }
        return add(handlers.getLast().paths(), handler, options, handlers.size() - 1);
    }

    /**
     * Says that the completions of a path are to be passed by without a handler.
     *
     * @param path that would be refused without one
     * @return this
     */
    public PipelineBuilder discard(final CompletionPath path) {
        discarded.add(Objects.requireNonNull(path, "the path to be discarded is null"));
        return this;
    }

    /**
     * Sets who hears that the pipeline polls no more because a handler has died.
     *
     * @param listener called on the thread that failed
     * @return this
     */
    public PipelineBuilder onFailure(final FailureListener listener) {
        this.failureListener = listener;
        return this;
    }

    /**
     * Sets who gets the completions that are still in the queues when the pipeline is stopped without having been drained.
     *
     * @param consumer called on the thread that stops the pipeline, with a flyweight that is valid during the call
     * @return this
     */
    public PipelineBuilder onLeftOver(final Consumer<WorkCompletion> consumer) {
        this.leftOver = consumer;
        return this;
    }

    /**
     * Sets how long starting the threads may take, by default 10 s.
     *
     * @param timeoutNs in nanoseconds
     * @return this
     */
    public PipelineBuilder startTimeout(final long timeoutNs) {
        this.startTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Sets how long the pipeline may take to drain and close when the JVM shuts down, by default 10 s.
     *
     * @param timeoutNs in nanoseconds; 0 to do nothing then
     * @return this
     */
    public PipelineBuilder shutdownTimeout(final long timeoutNs) {
        this.shutdownTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Sets the folder of the counters file, by default one for this user in {@code /dev/shm}.
     *
     * @param folder made if it is not there
     * @return this
     */
    public PipelineBuilder countersFolder(final Path folder) {
        this.countersFolder = Objects.requireNonNull(
            folder, "the counters folder is null: withoutCountersFile() keeps the counters in this process");
        this.countersFile = true;
        return this;
    }

    /**
     * Keeps the counters in this process only: {@code ringpoll stat} cannot see them then.
     *
     * @return this
     */
    public PipelineBuilder withoutCountersFile() {
        this.countersFile = false;
        return this;
    }

    /**
     * The wait that handlers get for which none is set.
     *
     * @return by the cores, and the threads described so far
     */
    public HandlerWait defaultWait() {
        return HandlerWait.forCores(cores, 1 + (runsToCompletion ? 0 : handlers.size()) + otherHotThreads);
    }

    /**
     * Checks the description, starts the handlers' threads and then the poller's, and waits until all are up and pinned.
     *
     * @return the running pipeline
     * @throws IllegalArgumentException with everything that is wrong, a line each
     * @throws PipelineStartException   if a thread cannot start; none is left running then
     * @throws IllegalStateException    if the builder has started a pipeline before, or a queue cannot be added; nothing is left
     *     of the pipeline then
     */
    public Pipeline start() {
        if (started) {
            throw new IllegalStateException(
                "pipeline " + name + " has been started: describe each pipeline by a builder of its own");
        }
        new PinningStep(this).apply();
        final List<String> faults = new PipelineCheck(this).faults();
        if (!faults.isEmpty()) {
            throw new IllegalArgumentException(String.join("\n", faults));
        }
        // Strategies, handlers and queues belong to one pipeline.
        started = true;
        return Pipeline.start(this);
    }

    /** The counters: in a file, or in memory if that was asked for or the default folder cannot be written to. */
    CountersFile newCountersFile() {
        if (!countersFile) {
            return CountersFile.inMemory(name);
        }
        try {
            return CountersFile.create(countersFolder, name);
        } catch (final UncheckedIOException notWritable) {
            if (countersFolder != null) {
                throw notWritable;
            }
            System.getLogger(PipelineBuilder.class.getName()).log(
                System.Logger.Level.WARNING, "{0}; pipeline {1} cannot be watched from outside", notWritable.getMessage(), name);
            return CountersFile.inMemory(name);
        }
    }

    /** The handlers with everything settled that was left open. */
    List<HandlerSpec> settledHandlers() {
        final HandlerWait defaultWait = defaultWait();
        final int defaultBatchLimit = runsToCompletion ? settledBatchLimit() : Math.max(1, ringSize / 4);
        final List<HandlerSpec> specs = new ArrayList<>();
        for (final HandlerDraft draft : handlers) {
            specs.add(draft.settle(handlers, defaultWait, defaultBatchLimit));
        }
        return specs;
    }

    /** The batch limit: as given, even if it is too large, or the default as far as the ring has room for it. */
    int settledBatchLimit() {
        return batchLimitGiven ? batchLimit : Math.min(batchLimit, Math.max(1, ringSize));
    }

    /** The number of slots: as given, or what a few batches need if the handlers run to completion. */
    int settledRingSize() {
        if (!runsToCompletion) {
            return ringSize;
        }
        // Batches end where the slots do; with room for several, few are cut short.
        return Math.min(ringSize, RUN_TO_COMPLETION_BATCHES * Integer.highestOneBit(2 * settledBatchLimit() - 1));
    }

    /** The polling thread's name. */
    String settledPollerName() {
        return pollerName != null ? pollerName : name + "-poller";
    }

    /** The idle strategy, by the cores if none was chosen. */
    IdleStrategy settledIdleStrategy() {
        return idleStrategy != null ? idleStrategy : defaultWait().newIdleStrategy();
    }

    private PipelineBuilder add(
        final Set<CompletionPath> paths, final CompletionHandler handler, final Consumer<HandlerOptions> options,
        final int before) {
        Objects.requireNonNull(paths, "the handler's paths are null");
        Objects.requireNonNull(options, "the handler's options are null: leave them out for the defaults");
        final HandlerOptions filled = new HandlerOptions();
        options.accept(filled);
        final Set<CompletionPath> copy = HandlerDraft.copyOf(paths);
        final String handlerName = filled.roleName != null ? filled.roleName : unusedName(name + "-" + HandlerDraft.label(copy));
        handlers.add(new HandlerDraft(handlerName, copy, handler, filled, before));
        return this;
    }

    private String unusedName(final String wanted) {
        String candidate = wanted;
        for (int i = 2; isUsed(candidate); i++) {
            candidate = wanted + '-' + i;
        }
        return candidate;
    }

    private boolean isUsed(final String candidate) {
        return handlers.stream().anyMatch(draft -> draft.name().equals(candidate));
    }
}
