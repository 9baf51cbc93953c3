package io.ringpoll.pipeline;

import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.counters.Counters;
import io.ringpoll.device.DeviceException;
import io.ringpoll.internal.counters.CountersFile;
import io.ringpoll.internal.ffm.JvmFlags;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.pipeline.SetHandler;
import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.CounterType;
import io.ringpoll.internal.poller.MemoryFault;
import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.poller.PollerLoop;
import io.ringpoll.internal.poller.QueueAttachments;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.PollerCounters;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.errors.ErrorLogReader;

/**
 * A running pipeline: one polling thread, the ring, and the handlers, each on its own thread or all on the polling thread.
 *
 * <p>Thread-safe. Every wait has a time-out ({@code docs/reference/configuration.md} states the rules for all), and a call on a
 * handler's thread does not wait for that handler. {@link #close()} drains the queues, lets the handlers finish the published
 * completions, and ends the threads; it is idempotent.
 */
public final class Pipeline implements AutoCloseable {
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);
    /** The clock is not read for the duty cycles of an agent. */
    private static final long NO_STALL_THRESHOLD = -1;
    private static final long DEFAULT_REMOVE_NS = TimeUnit.SECONDS.toNanos(5);

    private final String name;
    private final CountersFile countersFile;
    private final CompletionSlab slab;
    private final Handlers handlers;
    private final CompletionPoller poller;
    private final PollerCounterSet pollerCounters;
    private final Polling polling;
    private final JmxExport jmx = new JmxExport(this);
    private final LifeCycle lifeCycle = new LifeCycle();
    private final StartGate startGate = new StartGate();
    private final PipelineStop stop;
    private final FailureListener failureListener;
    private final ErrorHandler errorLog;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Pipeline(final PipelineConfig config, final CountersFile countersFile, final CompletionSlab slab) {
        this.countersFile = countersFile;
        this.slab = slab;
        name = config.name;
        failureListener = config.failureListener;
        CounterType.RING_SIZE.allocate(countersFile.counters(), name).setRelease(slab.capacity());
        final String pollerName = config.pollerName;
        errorLog = new ErrorRecorder(countersFile.errorLog(), config.errorHandler);
        pollerCounters = new PollerCounterSet(countersFile.counters(), pollerName);
        handlers = newHandlers(config, new Context());
        handlers.countPaths(pollerCounters);
        poller = new CompletionPoller(
            pollerName, handlers.ring(), handlers, config.batchLimit, config.plainRounds, pollerCounters, errorLog,
            SystemNanoClock.INSTANCE);
        polling = newPolling(config);
        final UndeliveredCompletions undelivered = new UndeliveredCompletions(poller.queues(), config.undelivered, errorLog);
        stop = new PipelineStop(this, lifeCycle, undelivered, config.shutdownTimeoutNs);
    }

    /** Starts a pipeline; a failed start leaves nothing running. */
    static Pipeline start(final PipelineConfig config) {
        final CountersFile countersFile = newCountersFile(config);
        CompletionSlab slab = null;
        final Pipeline pipeline;
        try {
            slab = new CompletionSlab(config.ringSize);
            pipeline = new Pipeline(config, countersFile, slab);
            countersFile.requireAll(config.name);
            MemoryFault.check();
        } catch (final RuntimeException | Error failure) {
            if (slab != null) {
                slab.release();
            }
            countersFile.free(failure::addSuppressed);
            countersFile.close();
            throw failure;
        }
        // No thread of the pipeline writes a counter after the last one has released the slab.
        slab.onFreed(() -> countersFile.free(pipeline.errorLog));
        pipeline.stop.start(() -> pipeline.startThreads(config));
        PipelineEvent.emit(pipeline.name, "started", pipeline.handlers.counters().size() + " handlers");
        return pipeline;
    }

    /**
     * Creates a builder.
     *
     * @return a builder with defaults for everything but the handlers
     * @throws io.ringpoll.device.DeviceException if the JVM lacks a flag; the message names it
     */
    public static PipelineBuilder builder() {
        JvmFlags.require(DeviceException::new);
        return new PipelineBuilder();
    }

    /**
     * Adds a completion queue without an attachment, see {@link #addQueue(CompletionQueue, Object)}.
     *
     * @param queue polled by this pipeline only
     * @return the index that its completions carry
     * @throws IllegalStateException as {@link #addQueue(CompletionQueue, Object)}
     * @throws NullPointerException  if the queue is null
     */
    public int addQueue(final CompletionQueue queue) {
        return addQueue(queue, null);
    }

    /**
     * Adds a completion queue, which the poller polls from one of its next duty cycles on.
     *
     * <p>The attachment is there before the first completion of the queue, and stays until the last one has been passed by all
     * handlers, also after the removal of the queue. It is then released by the next addition, removal or drain. The index is
     * not given to another queue before.
     *
     * @param queue      polled by this pipeline only
     * @param attachment such as the user's connection: {@link io.ringpoll.completion.WorkCompletion#attachment()} returns it for
     *     each completion of the queue; for the queue of a shared receive queue a {@link
     *     io.ringpoll.completion.QueuePairAttachments}; null for none
     * @return the index that its completions carry; it is reused after 65,535 other additions
     * @throws IllegalStateException if the queue is closed, this or another pipeline already polls it or a view of it, there are
     *     too many, the poller makes no duty cycles, or the pipeline has halted or been closed, or is that of a set of
     *     connections; the message states the reason
     * @throws NullPointerException  if the queue is null
     */
    public int addQueue(final CompletionQueue queue, final Object attachment) {
        Objects.requireNonNull(queue, "the completion queue to be added is null");
        final PipelineState state = lifeCycle.state();
        if (!state.takesQueues()) {
            throw new IllegalStateException(queue.name() + " cannot be added: pipeline " + name +
                (state == PipelineState.HALTED ? " has halted" :
                    stop.wasClosedByShutdown() ? " was closed by JVM shutdown" : " is closed"));
        }
        final SetHandler set = handlers.set();
        if (set != null && !set.owns(queue, attachment)) {
            throw new IllegalStateException(queue.name() + " cannot be added: pipeline " + name + " is that of connection set " +
                set.setName() + " and polls its connections only; use a pipeline of your own");
        }
        return poller.queues().add(queue, attachment);
    }

    /**
     * Removes a completion queue and waits until the poller no longer accesses it, in every state of the pipeline. After a stop
     * that timed out, remove a queue before destroying it.
     *
     * @param queue that was added
     * @throws TimeoutException if the poller did not remove it within 5 seconds; the queue must not be destroyed. The message
     *     states whether an agent was invoked
     */
    public void removeQueue(final CompletionQueue queue) throws TimeoutException {
        Objects.requireNonNull(queue, "the queue to be removed is null");
        remove(queue, Deadline.after(DEFAULT_REMOVE_NS));
    }

    /**
     * Removes a completion queue, as {@link #removeQueue(CompletionQueue)} does, and waits until all handlers have passed and
     * released each completion that was polled from it: a barrier, after which no handler uses the queue's connection or buffers.
     * Completions of other queues that were published before are waited for, too.
     *
     * <p>A call on a handler's thread waits for the other handlers, as far as they can advance; two handlers that wait for each
     * other wait until their time-outs. A call on the polling thread does not wait.
     *
     * @param queue     that was added; if it has been removed before, only the handlers are waited for
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less does not wait
     * @return true if the handlers have passed the completions; false if they have not within the time-out, or without delay if
     *     a handler has halted or the call is on the polling thread. The queue has been removed
     * @throws TimeoutException if the poller did not remove it within the time-out; the queue must not be destroyed
     */
    public boolean removeQueue(final CompletionQueue queue, final long timeoutNs) throws TimeoutException {
        Objects.requireNonNull(queue, "the queue to be removed is null");
        final Deadline deadline = Deadline.after(timeoutNs);
        remove(queue, deadline);
        return stop.awaitHandled(deadline);
    }

    /**
     * Executes a task on the polling thread between two rounds, for instance the first post of a connection, a timer, or a change
     * of state that handlers on the polling thread use. An event-driven poller is woken. A call does not wait and allocates
     * nothing: prepare the task to post without garbage.
     *
     * <p>Tasks are executed in the order of the calls, and in order with additions and removals of queues; also while the
     * pipeline is paused, and after a handler has halted. Those that are pending at the end of the poller are executed before it
     * ends. An exception is recorded ({@link #readErrors}) and ends nothing. While a task runs nothing is polled.
     *
     * @param task any thread may submit it, also the polling thread, and a task itself: it is executed after the next round
     * @return true if it will be executed; false if 1,024 tasks are pending
     * @throws java.util.concurrent.RejectedExecutionException if the poller is stopping or has ended; the task is not executed
     */
    public boolean execute(final Runnable task) {
        return poller.execute(Objects.requireNonNull(task, "the task is null"));
    }

    /**
     * Reports the failure of a queue that its owner detected outside of polling, for instance an asynchronous {@code
     * IBV_EVENT_CQ_ERR}: the queue leaves the round, and the handlers of the error path are notified.
     *
     * @param queue that was added
     * @param code  negative; passed to {@link HandlerLifecycle#onQueueFault}
     */
    public void reportQueueFault(final CompletionQueue queue, final int code) {
        Objects.requireNonNull(queue, "the failed queue is null");
        poller.queues().reportFault(queue, code);
    }

    /**
     * Subscribes to the asynchronous events of a device: a queue that the device reports as failed ({@code IBV_EVENT_CQ_ERR}, for
     * instance on an overrun) leaves the round, and the handlers of the error path are notified.
     *
     * @param context device of queues that are polled here
     * @return the subscription, to be closed before the device
     */
    public AsyncEvents.Subscription watch(final VerbsContext context) {
        Objects.requireNonNull(context, "the context is null");
        return AsyncEvents.listen(context, poller.queues()::onEvent);
    }

    /**
     * Stops polling until {@link #resume}; completions remain in their queues, and handlers finish the published ones.
     * Idempotent.
     *
     * @param timeoutNs time-out in nanoseconds; 0 or less does not wait
     * @return true if the poller has paused; false if it has not within the time-out, and pauses later
     */
    public boolean pause(final long timeoutNs) {
        return inTime(() -> poller.pause(Deadline.after(timeoutNs)));
    }

    /**
     * Resumes polling after {@link #pause}. Idempotent.
     *
     * @param timeoutNs time-out in nanoseconds; 0 or less does not wait
     * @return true if the poller polls; false if it has not resumed within the time-out and resumes later, or if the pipeline has
     *     halted or been closed
     */
    public boolean resume(final long timeoutNs) {
        return lifeCycle.state().takesQueues() && inTime(() -> poller.resume(Deadline.after(timeoutNs)));
    }

    /**
     * Waits until all queues have been found empty and the handlers have passed the published completions; the pipeline
     * continues. While it is paused, only the handlers are waited for.
     *
     * <p>A handler may call this on its own thread: the other handlers are waited for as far as they can advance without it. On
     * the polling thread, and after a handler has halted, the call does not wait.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less does not wait
     * @return the progress; in time if everything that had completed before the call has been handled. The final report if the
     *     pipeline is closed
     */
    public PipelineReport drain(final long timeoutNs) {
        return stop.drain(Deadline.after(timeoutNs));
    }

    /** Drains and stops with a time-out of 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Drains the queues for at most half of the time-out, then stops as {@link #stop} does.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less does not wait
     * @return the final report, the same at each further call
     */
    public PipelineReport close(final long timeoutNs) {
        return stop.close(timeoutNs, true);
    }

    /**
     * Stops polling, lets the handlers finish the published completions, and ends the threads. Completions that are still in the
     * queues are polled, counted and passed to {@link PipelineBuilder#onUndelivered}; to use a queue elsewhere, remove it before.
     *
     * <p>A poll or handler that does not return in time keeps its thread running, and the ring's memory is retained for it and
     * for held slots. Such threads end when the call returns; {@link #removeQueue(CompletionQueue)} waits until a queue is no
     * longer polled. A call on a handler's own thread starts the stop on another thread and returns.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less requests the end of the threads and does not wait
     * @return the final report, the same at each further call, except for calls that return before it has been made
     */
    public PipelineReport stop(final long timeoutNs) {
        return stop.close(timeoutNs, false);
    }

    /**
     * Reads all counters of the pipeline: those of the poller, the ring, the handlers and the budgets.
     *
     * @return a snapshot, also without a counters file; the last values after the close
     * @throws IllegalStateException if the memory of the counters is gone: a file of theirs was truncated
     */
    public Counters counters() {
        return countersFile.snapshot(name);
    }

    /**
     * The counters of the poller.
     *
     * @return live counters
     */
    public PollerCounters pollerCounters() {
        return pollerCounters;
    }

    /**
     * Number of published slots that at least one handler has not passed, or holds.
     *
     * @return a snapshot
     */
    public long occupancy() {
        return handlers.ring().occupancy();
    }

    /**
     * Number of held slots.
     *
     * @return a snapshot
     */
    public long held() {
        return handlers.held();
    }

    /**
     * Number of exceptions thrown by the handlers.
     *
     * @return sum over all handlers
     * @throws IllegalStateException as {@link #counters()}
     */
    public long handlerExceptions() {
        return countersFile.read(
            name, () -> handlers.counters().stream().mapToLong(counters -> counters.exceptions.get()).sum());
    }

    /**
     * Time for which the ring was full because of a handler.
     *
     * @param handlerName as set, or {@link Thread#getName} of its thread
     * @return nanoseconds; 0 if no handler has the name
     * @throws IllegalStateException as {@link #counters()}
     */
    public long causedStallNs(final String handlerName) {
        Objects.requireNonNull(handlerName, "handlerName is null");
        final int position = handlers.indexOf(handlerName);
        return position < 0 ? 0 : countersFile.read(name, () -> handlers.counters().get(position).causedStallNs.get());
    }

    /**
     * The poller as an agent, see {@link PipelineBuilder#asAgent()}.
     *
     * <p>A handler or task on the invoking thread ends it by {@link #close()} or by {@code onClose} of the agent, after the
     * present duty cycle. It must not call {@code AgentRunner.close()}, which waits for the thread that calls it.
     *
     * @return the agent, always the same instance
     * @throws IllegalStateException if the pipeline has a polling thread
     */
    public Agent agent() {
        if (polling instanceof final Agent agent) {
            return agent;
        }
        throw new IllegalStateException(
            "pipeline " + name + " has a polling thread: asAgent() of its builder makes the poller an agent");
    }

    /**
     * The idle strategy for the thread that invokes the agent, to be given to its {@code AgentRunner}: the one that was set with
     * {@link PipelineBuilder#idleStrategy}. An event-driven one sleeps on this pipeline's queues. It yields while the ring is
     * full, and does not spin while the pipeline is paused. Other agents on the thread wait while it sleeps.
     *
     * @return the strategy, always the same instance
     * @throws IllegalStateException if the pipeline has a polling thread, or no idle strategy was set
     */
    public IdleStrategy agentIdleStrategy() {
        if (agent() instanceof final PollerAgent own && own.idleStrategy() != null) {
            return own.idleStrategy();
        }
        throw new IllegalStateException("pipeline " + name + " has no idle strategy: set idleStrategy() of its builder");
    }

    /**
     * The polling thread, for monitoring.
     *
     * @return the thread; of an agent, the thread that started or invoked it last, or null before its start
     */
    public Thread pollerThread() {
        return polling.thread();
    }

    /**
     * The handlers' threads, in the order of description.
     *
     * @return the threads; empty if the handlers run on the polling thread
     */
    public List<Thread> handlerThreads() {
        return handlers.threads();
    }

    /**
     * The counters file, for monitoring by other processes.
     *
     * @return null if there is none
     */
    public Path countersFile() {
        return countersFile.path();
    }

    /**
     * The state of the pipeline.
     *
     * @return a snapshot
     */
    public PipelineState state() {
        return lifeCycle.state();
    }

    /**
     * The failure that halted the pipeline, such as the exception of a handler with {@link FailurePolicy#HALT}.
     *
     * @return null if the pipeline has not failed
     */
    public Throwable failure() {
        return failure.get();
    }

    /**
     * Reads the distinct exceptions of handlers and queues.
     *
     * @param line receives one line per exception: number of occurrences and stack trace
     * @throws IllegalStateException as {@link #counters()}
     */
    public void readErrors(final Consumer<String> line) {
        Objects.requireNonNull(line, "the consumer of lines (line) is null");
        countersFile.read(name, () -> {
            final List<String> lines = new ArrayList<>();
            ErrorLogReader.read(
                countersFile.errorLog().buffer(),
                (count, firstMs, lastMs, encoded) -> lines.add(count + " times: " + encoded));
            return lines;
        }).forEach(line);
    }

    private void remove(final CompletionQueue queue, final Deadline deadline) throws TimeoutException {
        try {
            poller.queues().remove(queue, deadline);
        } catch (final TimeoutException late) {
            throw polling.explain(late);
        }
    }

    /** Creates the counters: in a file, or in memory if requested or if the default folder is not writable. */
    private static CountersFile newCountersFile(final PipelineConfig config) {
        if (config.countersManager != null) {
            return CountersFile.in(config.countersManager, config.name);
        }
        if (!config.countersFile) {
            return CountersFile.inMemory(config.name);
        }
        try {
            return CountersFile.create(config.countersFolder, config.name);
        } catch (final UncheckedIOException notWritable) {
            if (config.countersFolder != null) {
                throw notWritable;
            }
            System.getLogger(Pipeline.class.getName()).log(
                System.Logger.Level.WARNING, "{0}; pipeline {1} cannot be watched from outside", notWritable.getMessage(),
                config.name);
            return CountersFile.inMemory(config.name);
        }
    }

    private void startThreads(final PipelineConfig config) {
        final Deadline deadline = Deadline.after(config.startTimeoutNs);
        config.queues.forEach(added -> addQueue(added.queue(), added.attachment()));
        handlers.start(startGate);
        startGate.await(deadline);
        polling.start();
        startGate.await(deadline);
        if (config.jmx) {
            jmx.register();
        }
    }

    /** Closes as {@link #close(long)} does, always on another thread, and returns a snapshot. */
    PipelineReport closeWithoutWaiting(final long timeoutNs) {
        return stop.closeWithoutWaiting(timeoutNs);
    }

    /** Whether the pipeline was closed while the JVM shut down. */
    boolean wasClosedByShutdown() {
        return stop.wasClosedByShutdown();
    }

    /** Whether the close of this pipeline would wait for the calling thread. */
    boolean waitsForCaller() {
        return stop.waitsForCaller();
    }

    String name() {
        return name;
    }

    CompletionSlab slab() {
        return slab;
    }

    Handlers handlers() {
        return handlers;
    }

    CompletionPoller poller() {
        return poller;
    }

    Polling polling() {
        return polling;
    }

    /** Removes the pipeline from the means of monitoring; the counters can still be read in this process. */
    void endMonitoring() {
        try {
            countersFile.close();
        } finally {
            jmx.unregister();
        }
    }

    private Handlers newHandlers(final PipelineConfig config, final HandlerContext context) {
        return config.runsToCompletion ?
            new RunToCompletionHandlers(config.handlers, slab, countersFile.counters(), context) :
            new ThreadedHandlers(config.handlers, slab, countersFile.counters(), context, startGate,
                config.threadFactory);
    }

    private Polling newPolling(final PipelineConfig config) {
        final IdleCalls idleCalls = handlers.idleCalls();
        final IdleStrategy strategy =
            idleCalls == null ? config.idleStrategy : limitSleep(config.idleStrategy, idleCalls.shortestNs());
        if (config.asAgent) {
            final PollerLoop idle =
                strategy == null ? null : new PollerLoop(poller, strategy, NO_STALL_THRESHOLD, this::onPollerDied);
            return new PollerAgent(poller, handlers, idleCalls, idle, slab, this::onPollerDied);
        }
        final PollerLoop loop = new PollerLoop(poller, strategy, config.stallThresholdNs, this::onPollerDied,
            idleCalls == null ? UnaryOperator.identity() : idleCalls::with);
        return new PollerThread(poller, config.pollerCpu, loop, handlers, startGate, slab, config.threadFactory);
    }

    /** An idle strategy that does not sleep for longer than a time. */
    private static IdleStrategy limitSleep(final IdleStrategy strategy, final long maxSleepNs) {
        return strategy instanceof final EventDrivenIdle events ?
            new EventDrivenIdle(events.spinNs(), Math.min(events.maxSleepNs(), maxSleepNs)) : strategy;
    }

    private void onPollerDied(final Throwable cause) {
        errorLog.onError(cause);
        halt(poller.roleName(), cause);
    }

    private void halt(final String threadName, final Throwable cause) {
        handlers.ring().halt();
        if (failure.compareAndSet(null, cause)) {
            lifeCycle.advance(PipelineState.HALTED);
            try {
                PipelineEvent.emit(name, "halted", threadName + ": " + ErrorRecorder.describe(cause));
                failureListener.onFailure(this, threadName, cause);
            } catch (final Throwable thrown) {
                errorLog.onError(thrown);
            }
        }
    }

    private static boolean inTime(final BoundedAction action) {
        try {
            action.run();
            return true;
        } catch (final TimeoutException late) {
            return false;
        }
    }

    /** An action with a deadline. */
    @FunctionalInterface
    private interface BoundedAction {
        void run() throws TimeoutException;
    }

    /** The services of this pipeline for its handlers' threads. */
    private final class Context implements HandlerContext {
        @Override
        public ErrorHandler errorLog() {
            return errorLog;
        }

        @Override
        public String queueName(final int queueIndex) {
            return poller.queues().name(queueIndex);
        }

        @Override
        public QueueAttachments attachments() {
            return poller.queues().attachments();
        }

        @Override
        public boolean hasTimestamps(final int queueIndex) {
            return poller.queues().hasTimestamps(queueIndex);
        }

        @Override
        public void onHandlerHalted(final String roleName, final Throwable cause) {
            handlers.onHandlerHalted();
            halt(roleName, cause);
        }
    }
}
