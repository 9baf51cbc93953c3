package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.status.CountersManager;

/**
 * Describes a pipeline: the queues, the poller, the ring and the handlers of the three paths.
 *
 * <p>Confined to one thread, for one pipeline. {@link #start()} reports all errors of the description in one exception.
 */
public final class PipelineBuilder {
    final List<DescribedQueue> queues = new ArrayList<>();
    final DescribedHandlers handlers = new DescribedHandlers();
    final Set<CompletionPath> discarded = EnumSet.noneOf(CompletionPath.class);
    String name = "ringpoll";
    int ringSize = 8192;
    boolean runsToCompletion;
    boolean asAgent;
    int batchLimit;
    boolean batchLimitGiven;
    boolean plainRounds;
    private boolean started;
    int pollerCpu = Pinning.ANY_CPU;
    String pollerName;
    Pinning pinning = (candidates, taken) -> Map.of();
    IdleStrategy idleStrategy;
    long stallThresholdNs = TimeUnit.MILLISECONDS.toNanos(1);
    long startTimeoutNs = TimeUnit.SECONDS.toNanos(10);
    long shutdownTimeoutNs;
    boolean countersFile = true;
    Path countersFolder;
    CountersManager countersManager;
    boolean jmx;
    FailureListener failureListener = (pipeline, threadName, failure) -> { };
    Consumer<WorkCompletion> undelivered = completion -> { };
    int cores = Runtime.getRuntime().availableProcessors();
    int otherHotThreads = 1;
    BiFunction<Runnable, String, Thread> threadFactory = Thread::new;
    ErrorHandler errorHandler = failure -> { };

    /** A completion queue, null until the check, and its attachment or null. */
    record DescribedQueue(CompletionQueue queue, Object attachment) {
    }

    PipelineBuilder() {
    }

    /**
     * Names the pipeline, its threads and its counters; the default is {@code ringpoll}.
     *
     * @param pipelineName for display; not empty, without control characters
     * @return this
     */
    public PipelineBuilder name(final String pipelineName) {
        this.name = pipelineName;
        return this;
    }

    /**
     * Sets the number of slots, which limits how far handlers may be behind the poller; the default is 8,192. With {@link
     * #runToCompletion()} the handlers are never behind, and the size is only the maximum of {@link #batchLimit}.
     *
     * @param slots a power of two
     * @return this
     */
    public PipelineBuilder ringSize(final int slots) {
        this.ringSize = slots;
        return this;
    }

    /**
     * Adds a completion queue; {@link Pipeline#addQueue} adds queues to a running pipeline.
     *
     * @param queue polled by this pipeline only
     * @return this
     */
    public PipelineBuilder queue(final CompletionQueue queue) {
        return queue(queue, null);
    }

    /**
     * Adds a completion queue with an attachment, see {@link Pipeline#addQueue(CompletionQueue, Object)}.
     *
     * @param queue      polled by this pipeline only
     * @param attachment such as the user's connection, or null
     * @return this
     */
    public PipelineBuilder queue(final CompletionQueue queue, final Object attachment) {
        queues.add(new DescribedQueue(queue, attachment));
        return this;
    }

    /**
     * Sets the maximum number of completions taken from one queue in one poll, so that a busy queue does not starve the others;
     * the default is 32. A round polls each queue once, and a single queue up to 8 times while it is full; see
     * {@link #plainRounds()} for rounds of more than 64 queues.
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
     * Polls each queue once in each round, also in large rounds. By default, rounds of more than 64 queues are adaptive:
     * after each 64 queues, up to 8 queues that had completions recently are polled again, so that their completions do not wait
     * until many empty queues have been polled. The price: a round of n queues has up to n / 8 more polls, each of at most
     * {@link #batchLimit} completions, so the other queues wait longer. In plain rounds all queues have the same share.
     *
     * @return this
     */
    public PipelineBuilder plainRounds() {
        this.plainRounds = true;
        return this;
    }

    /**
     * Runs all handlers on the polling thread, each batch to its end before the next poll, instead of on threads of their own: no
     * hand-off between threads, the lowest latency, and one hot thread. For short handlers: nothing is polled while one runs. A
     * handler may post, {@link Pipeline#pause}, and add and remove queues; {@link Pipeline#drain} does not wait there. Options of
     * handlers' threads are rejected: stages, CPUs, waits, largest batches and held slots.
     *
     * @return this
     */
    public PipelineBuilder runToCompletion() {
        this.runsToCompletion = true;
        return this;
    }

    /**
     * Makes the poller an agent instead of a thread: {@link Pipeline#agent()} is to be given to an {@code AgentRunner}, {@code
     * AgentInvoker} or {@code CompositeAgent} of the program, which starts, invokes and closes it on its thread. {@link #start()}
     * does not wait for that. With {@link #runToCompletion()} the handlers run on that thread, too.
     *
     * <p>Another thread may invoke the agent after a duty cycle, but not during one: it gets an {@link IllegalStateException}.
     * After the close of the pipeline {@code doWork} returns 0; after the close of the agent nothing is polled, and {@link
     * Pipeline#close()} releases the rest. The thread is yours: a CPU of the poller is rejected, and the stall threshold has no
     * effect. {@link Pipeline#agentIdleStrategy()} is the idle strategy for it, if one is set.
     *
     * @return this
     */
    public PipelineBuilder asAgent() {
        this.asAgent = true;
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
     * Pins every thread without a CPU of its own, for instance {@code pin(AutoPinning.auto())} according to the tuning module's
     * affinity plan; by default such threads are not pinned.
     *
     * @param how called when the pipeline starts
     * @return this
     */
    public PipelineBuilder pin(final Pinning how) {
        this.pinning = how;
        return this;
    }

    /**
     * Names the polling thread and its counters; the default is the pipeline's name and {@code -poller}.
     *
     * @param threadName for display
     * @return this
     */
    public PipelineBuilder pollerName(final String threadName) {
        this.pollerName = threadName;
        return this;
    }

    /**
     * Sets the idle strategy of the polling thread, used while all queues are empty; by default it spins if the number of cores
     * permits. With {@link #asAgent()}, {@link Pipeline#agentIdleStrategy()} returns it for your thread.
     *
     * @param strategy not shared with another thread
     * @return this
     */
    public PipelineBuilder idleStrategy(final IdleStrategy strategy) {
        this.idleStrategy = strategy;
        return this;
    }

    /**
     * Sets the time above which a duty cycle of the poller counts as a stall; the default is 1 ms.
     *
     * @param thresholdNs in nanoseconds; negative to disable the measurement and its clock reads
     * @return this
     */
    public PipelineBuilder stallThresholdNs(final long thresholdNs) {
        this.stallThresholdNs = thresholdNs;
        return this;
    }

    /**
     * Sets the machine size from which default waits are derived.
     *
     * @param availableCores cores for this process; the default is the number that the JVM reports
     * @param hotThreads     other threads than poller and handlers that run at full speed; the default is 1, the posting thread
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
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onSendWrite(final CompletionHandler handler) {
        return onSendWrite(handler, options -> { });
    }

    /**
     * Adds a handler for successful sends, writes, reads, flushes and atomics.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onSendWrite(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.of(CompletionPath.SEND_WRITE), handler, options);
    }

    /**
     * Adds a batch handler for successful sends, writes, reads, flushes and atomics.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onSendWriteBatch(final BatchHandler handler) {
        return onSendWriteBatch(handler, options -> { });
    }

    /**
     * Adds a batch handler for successful sends, writes, reads, flushes and atomics.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onSendWriteBatch(final BatchHandler handler, final Consumer<HandlerOptions> options) {
        return onBatch(EnumSet.of(CompletionPath.SEND_WRITE), handler, options);
    }

    /**
     * Adds a handler for successful receives.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onReceive(final CompletionHandler handler) {
        return onReceive(handler, options -> { });
    }

    /**
     * Adds a handler for successful receives.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onReceive(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.of(CompletionPath.RECEIVE), handler, options);
    }

    /**
     * Adds a batch handler for successful receives.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onReceiveBatch(final BatchHandler handler) {
        return onReceiveBatch(handler, options -> { });
    }

    /**
     * Adds a batch handler for successful receives.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onReceiveBatch(final BatchHandler handler, final Consumer<HandlerOptions> options) {
        return onBatch(EnumSet.of(CompletionPath.RECEIVE), handler, options);
    }

    /**
     * Adds a handler for failed completions, sends and receives, and for failed queues.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onError(final CompletionHandler handler) {
        return onError(handler, options -> { });
    }

    /**
     * Adds a handler for failed completions, sends and receives, and for failed queues.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onError(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.of(CompletionPath.ERROR), handler, options);
    }

    /**
     * Adds a batch handler for failed completions, sends and receives, and for failed queues.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onErrorBatch(final BatchHandler handler) {
        return onErrorBatch(handler, options -> { });
    }

    /**
     * Adds a batch handler for failed completions, sends and receives, and for failed queues.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onErrorBatch(final BatchHandler handler, final Consumer<HandlerOptions> options) {
        return onBatch(EnumSet.of(CompletionPath.ERROR), handler, options);
    }

    /**
     * Adds a handler for all completions.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onAll(final CompletionHandler handler) {
        return onAll(handler, options -> { });
    }

    /**
     * Adds a handler for all completions.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onAll(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        return on(EnumSet.allOf(CompletionPath.class), handler, options);
    }

    /**
     * Adds a batch handler for all completions.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @return this
     */
    public PipelineBuilder onAllBatch(final BatchHandler handler) {
        return onAllBatch(handler, options -> { });
    }

    /**
     * Adds a batch handler for all completions.
     *
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onAllBatch(final BatchHandler handler, final Consumer<HandlerOptions> options) {
        return onBatch(EnumSet.allOf(CompletionPath.class), handler, options);
    }

    /**
     * Adds a handler for a set of paths; a path may have several handlers.
     *
     * @param paths   at least one
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder on(
        final Set<CompletionPath> paths, final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        handlers.add(name, paths, handler, false, options);
        return this;
    }

    /**
     * Adds a batch handler for a set of paths; a path may have several handlers.
     *
     * @param paths   at least one
     * @param handler run on its own thread, or on the poller's with {@link #runToCompletion()}
     * @param options receives the options to set
     * @return this
     */
    public PipelineBuilder onBatch(
        final Set<CompletionPath> paths, final BatchHandler handler, final Consumer<HandlerOptions> options) {
        handlers.add(name, paths, handler, true, options);
        return this;
    }

    /**
     * Adds a stage: a handler for the paths of the last handler, to which each slot is delivered after the last handler has
     * passed and released it.
     *
     * @param handler run on its own thread
     * @return this
     */
    public PipelineBuilder then(final CompletionHandler handler) {
        return then(handler, options -> { });
    }

    /**
     * Adds a stage: a handler for the paths of the last handler, to which each slot is delivered after the last handler has
     * passed and released it. {@link HandlerOptions#after} adds further predecessors.
     *
     * @param handler run on its own thread
     * @param options receives the options to set
     * @return this
     * @throws IllegalStateException if no handler has been added before
     */
    public PipelineBuilder then(final CompletionHandler handler, final Consumer<HandlerOptions> options) {
        handlers.addStage("then", name, handler, false, options);
        return this;
    }

    /**
     * Adds a stage that receives batches, see {@link #then(CompletionHandler)}.
     *
     * @param handler run on its own thread
     * @return this
     * @throws IllegalStateException if no handler has been added before
     */
    public PipelineBuilder thenBatch(final BatchHandler handler) {
        return thenBatch(handler, options -> { });
    }

    /**
     * Adds a stage that receives batches, see {@link #then(CompletionHandler, Consumer)}.
     *
     * @param handler run on its own thread
     * @param options receives the options to set
     * @return this
     * @throws IllegalStateException if no handler has been added before
     */
    public PipelineBuilder thenBatch(final BatchHandler handler, final Consumer<HandlerOptions> options) {
        handlers.addStage("thenBatch", name, handler, true, options);
        return this;
    }

    /**
     * Discards the completions of a path, so that it needs no handler.
     *
     * @param path without a handler
     * @return this
     */
    public PipelineBuilder discard(final CompletionPath path) {
        discarded.add(Objects.requireNonNull(path, "the path to be discarded is null"));
        return this;
    }

    /**
     * Sets the listener for a pipeline that halts on a failure.
     *
     * @param listener called on the failed thread
     * @return this
     */
    public PipelineBuilder onFailure(final FailureListener listener) {
        this.failureListener = listener;
        return this;
    }

    /**
     * Sets the consumer of completions that are still in the queues when the pipeline is stopped without a drain.
     *
     * @param consumer called on the stopping thread, with a flyweight that is valid during the call
     * @return this
     */
    public PipelineBuilder onUndelivered(final Consumer<WorkCompletion> consumer) {
        this.undelivered = consumer;
        return this;
    }

    /**
     * Creates the threads of the pipeline by a factory, for instance in a thread group or with a context class loader. The
     * threads get the names of the poller and the handlers and become daemons before they are started.
     *
     * @param factory called when the pipeline starts, once for each thread; it returns a new platform thread each time, which it
     *     does not start and which runs the task itself
     * @return this
     */
    public PipelineBuilder threadFactory(final ThreadFactory factory) {
        Objects.requireNonNull(factory, "the thread factory is null: leave it out for threads without one");
        this.threadFactory = PipelineThread.madeBy(factory);
        return this;
    }

    /**
     * Sets a handler that is passed each exception that the pipeline records: those of handlers, tasks, queues and listeners. An
     * exception of this handler is recorded and not passed to it.
     *
     * @param handler called on the thread of the exception, after it was recorded; thread-safe and fast
     * @return this
     */
    public PipelineBuilder errorHandler(final ErrorHandler handler) {
        this.errorHandler = Objects.requireNonNull(
            handler, "the error handler is null: leave it out for the error log alone");
        return this;
    }

    /**
     * Sets the time-out for the start of all threads; the default is 10 s.
     *
     * @param timeoutNs in nanoseconds; 0 does not wait, which suffices for no thread; rejected by the start if negative
     * @return this
     */
    public PipelineBuilder startTimeoutNs(final long timeoutNs) {
        this.startTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Closes the pipeline when the JVM shuts down, for instance on SIGTERM, as {@link Pipeline#close(long)} does. By default the
     * program closes it, for instance by a shutdown hook of its own. A hook of the program may close it also with this option:
     * all calls wait for the same close, and return the same report.
     *
     * @param timeoutNs time-out of the close, in nanoseconds; 0, the default, to leave the pipeline to the program; rejected by
     *     the start if negative
     * @return this
     */
    public PipelineBuilder shutdownTimeoutNs(final long timeoutNs) {
        this.shutdownTimeoutNs = timeoutNs;
        return this;
    }

    /**
     * Sets the folder of the counters file; the default is a folder of the user in {@code /dev/shm}.
     *
     * @param folder created if missing
     * @return this
     */
    public PipelineBuilder countersFolder(final Path folder) {
        this.countersFolder = Objects.requireNonNull(
            folder, "the counters folder is null: withoutCountersFile() keeps the counters in this process");
        this.countersFile = true;
        return this;
    }

    /**
     * Allocates the counters in a manager of the program, with 10,000 added to their type ids, instead of a file. They are freed
     * when the pipeline is closed and its threads have ended; the memory of the manager must not be unmapped before.
     *
     * @param manager a {@code ConcurrentCountersManager} unless one thread starts and closes the pipeline and uses the manager
     * @return this
     */
    public PipelineBuilder countersManager(final CountersManager manager) {
        this.countersManager = Objects.requireNonNull(
            manager, "the counters manager is null: leave it out for counters of the pipeline");
        this.countersFile = false;
        return this;
    }

    /**
     * Keeps the counters in memory, where {@code ringpoll stat} cannot read them.
     *
     * @return this
     */
    public PipelineBuilder withoutCountersFile() {
        this.countersFile = false;
        return this;
    }

    /**
     * Registers the pipeline in JMX from its start to its end, as {@link PipelineMXBean}; by default it is not registered.
     *
     * @return this
     */
    public PipelineBuilder exportToJmx() {
        this.jmx = true;
        return this;
    }

    /**
     * The default wait of handlers.
     *
     * @return derived from the number of cores and of the threads described so far
     */
    public WaitMode defaultWait() {
        return defaults().waitMode();
    }

    /**
     * Checks the description, starts the handlers' threads and then the poller's, and waits until all run and are pinned.
     *
     * @return the running pipeline
     * @throws IllegalArgumentException with all errors of the description, one per line
     * @throws PipelineStartException   if a thread cannot start; none is left running
     * @throws IllegalStateException    if the builder has already started a pipeline, or a queue cannot be added; nothing of the
     *     pipeline is left
     */
    public Pipeline start() {
        if (started) {
            throw new IllegalStateException(
                "pipeline " + name + " has been started: use a new builder for each pipeline");
        }
        final PipelineConfig config = PipelineConfig.conclude(this);
        // Strategies, handlers and queues belong to one pipeline.
        started = true;
        return Pipeline.start(config);
    }

    /** The values of the options: as set, or derived. */
    PipelineDefaults defaults() {
        return new PipelineDefaults(this);
    }
}
