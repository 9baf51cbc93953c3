package io.ringpoll.pipeline;

import io.ringpoll.pipeline.counters.CountersFile;
import io.ringpoll.poller.CompletionPoller;
import io.ringpoll.poller.CounterType;
import io.ringpoll.poller.PollerCounters;
import io.ringpoll.poller.PollerLoop;
import io.ringpoll.verbs.AsyncEvents;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsContext;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.errors.ErrorLogReader;

/**
 * Completions on their way: one polling thread, the ring, and the handlers, each with a thread of its own or all on the poller's.
 *
 * <p>Methods may be called from any thread. What waits has a bound, and one that is called on a handler's own thread does not
 * wait for that handler. {@link #close()} drains the queues, lets the handlers finish what was polled, and ends the threads; it
 * may be called again.
 */
public final class Pipeline implements AutoCloseable {
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long DEFAULT_REMOVE_NS = TimeUnit.SECONDS.toNanos(5);

    private final String name;
    private final CountersFile countersFile;
    private final CompletionSlab slab;
    private final Handlers handlers;
    private final CompletionPoller poller;
    private final PollerCounters pollerCounters;
    private final PollerThread pollerThread;
    private final LifeCycle lifeCycle = new LifeCycle();
    private final StartGate startGate = new StartGate();
    private final PipelineStop stop;
    private final FailureListener failureListener;
    private final ErrorHandler errorLog;
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    private Pipeline(final PipelineBuilder description, final CountersFile countersFile, final CompletionSlab slab) {
        this.countersFile = countersFile;
        this.slab = slab;
        name = description.name;
        failureListener = description.failureListener;
        CounterType.RING_SIZE.allocate(countersFile.counters(), name).setRelease(slab.capacity());
        final String pollerName = description.settledPollerName();
        errorLog = new ErrorRecorder(countersFile.errorLog());
        pollerCounters = new PollerCounters(countersFile.counters(), pollerName);
        handlers = newHandlers(description, new Context());
        poller = new CompletionPoller(
            pollerName, handlers.ring(), description.settledBatchLimit(), pollerCounters, errorLog, SystemNanoClock.INSTANCE);
        final PollerLoop loop = new PollerLoop(
            poller, description.settledIdleStrategy(), description.stallThresholdNs, this::onPollerDied);
        pollerThread =
            new PollerThread(poller, description.pollerCpu, loop, handlers, startGate, slab, description.threads);
        final LeftOver leftOver = new LeftOver(poller.queues(), description.leftOver, errorLog);
        stop = new PipelineStop(this, lifeCycle, leftOver, description.shutdownTimeoutNs);
    }

    /** Starts the pipeline of a description that has been checked, or leaves nothing of it. */
    static Pipeline start(final PipelineBuilder description) {
        final CountersFile countersFile = description.newCountersFile();
        CompletionSlab slab = null;
        final Pipeline pipeline;
        try {
            slab = new CompletionSlab(description.settledRingSize());
            pipeline = new Pipeline(description, countersFile, slab);
        } catch (final RuntimeException | Error failure) {
            if (slab != null) {
                slab.release();
            }
            countersFile.close();
            throw failure;
        }
        pipeline.stop.start(() -> pipeline.startThreads(description));
        PipelineEvent.emit(pipeline.name, "started", pipeline.handlers.counters().size() + " handlers");
        return pipeline;
    }

    /**
     * Begins the description of a pipeline.
     *
     * @return a builder with a default for everything but the handlers
     */
    public static PipelineBuilder builder() {
        return new PipelineBuilder();
    }

    /**
     * Adds a completion queue, which the poller polls from one of its next duty cycles on.
     *
     * @param queue that nobody else polls
     * @return the index that its completions carry
     * @throws IllegalStateException if this or another pipeline polls the queue already, itself or a view of it, there are too
     *     many, the poller makes no duty cycles, or the pipeline has halted or been closed; the message names the reason
     * @throws NullPointerException  if the queue is null
     */
    public int addQueue(final CompletionQueue queue) {
        Objects.requireNonNull(queue, "the completion queue to be added is null");
        final PipelineState state = lifeCycle.state();
        if (!state.takesQueues()) {
            throw new IllegalStateException(queue.name() + " cannot be added: pipeline " + name +
                (state == PipelineState.HALTED ? " has halted" : " is closed"));
        }
        return poller.queues().add(queue);
    }

    /**
     * Takes a completion queue out and waits until the poller can no longer touch it. In every state of the pipeline; after a
     * stop that was not in time, the queue may only be destroyed when it has been removed.
     *
     * @param queue that was added
     * @throws TimeoutException if the poller did not remove it within 5 seconds; it must not be destroyed then
     */
    public void removeQueue(final CompletionQueue queue) throws TimeoutException {
        Objects.requireNonNull(queue, "the queue to be removed is null");
        poller.queues().remove(queue, DEFAULT_REMOVE_NS);
    }

    /**
     * Reports that a queue has failed by what its owner has heard outside of polling, for instance an asynchronous
     * {@code IBV_EVENT_CQ_ERR}: it is polled no more and the handlers of the error path hear of it.
     *
     * @param queue that was added
     * @param code  negative; handed to {@link HandlerLifecycle#onQueueFault}
     */
    public void reportQueueFault(final CompletionQueue queue, final int code) {
        Objects.requireNonNull(queue, "the failed queue is null");
        poller.queues().reportFault(queue, code);
    }

    /**
     * Listens to a device: a queue of which it tells that it has failed ({@code IBV_EVENT_CQ_ERR}, for instance because it has
     * overrun) is polled no more, and the handlers of the error path hear of it.
     *
     * @param context the device of queues that are polled here
     * @return ends the listening when it is closed; to be closed before the device
     */
    public AsyncEvents.Subscription watch(final VerbsContext context) {
        Objects.requireNonNull(context, "the context is null");
        return AsyncEvents.listen(context, poller.queues()::onEvent);
    }

    /**
     * Stops polling until {@link #resume}; completions wait in their queues, and handlers finish what was polled. A second call
     * changes nothing.
     *
     * @param timeoutNs bound, in nanoseconds
     * @return true if the poller polls no more; false if it has not stopped within the time, and will as soon as it can
     */
    public boolean pause(final long timeoutNs) {
        return inTime(() -> poller.pause(Deadline.after(timeoutNs).atNs()));
    }

    /**
     * Polls again after {@link #pause}. A second call changes nothing.
     *
     * @param timeoutNs bound, in nanoseconds
     * @return true if the poller polls; false if it has not begun within the time, and will as soon as it can, or if the pipeline
     *     has halted or been closed, and never will
     */
    public boolean resume(final long timeoutNs) {
        return lifeCycle.state().takesQueues() && inTime(() -> poller.resume(Deadline.after(timeoutNs).atNs()));
    }

    /**
     * Waits until all queues have been found empty and the handlers have passed what was polled; the pipeline goes on. While it
     * is paused, only what was polled is waited for.
     *
     * <p>A handler may call this on its own thread: the others are waited for as far as they can come without it. On the poller's
     * thread, and when a handler has died, it does not wait.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return how far it came; in time if everything that had completed before the call has been handled. Of a closed pipeline it
     *     is the final report
     */
    public PipelineReport drain(final long timeoutNs) {
        return stop.drain(Deadline.after(timeoutNs));
    }

    /** Drains and stops within 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Drains the queues for at most half of the time, then stops as {@link #stop} does.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return what was left; the same report at each further call
     */
    public PipelineReport close(final long timeoutNs) {
        return stop.close(timeoutNs, true);
    }

    /**
     * Stops polling, lets the handlers finish what was polled, and ends the threads. What is still in the queues is taken out,
     * counted, and given to {@link PipelineBuilder#onLeftOver}; a queue that is to be used elsewhere is removed before.
     *
     * <p>A poll or a handler that does not return in time keeps its thread, and the ring's memory stays for it and for held
     * slots. Such threads end as soon as they can; {@link #removeQueue} waits until a queue is polled no more. Called on a
     * handler's own thread, this begins the stop on another thread and returns.
     *
     * @param timeoutNs bound for the whole, in nanoseconds; 0 to begin the end of the threads and not to wait for it
     * @return what was left; the same report at each further call, but for calls that return before the report is made
     */
    public PipelineReport stop(final long timeoutNs) {
        return stop.close(timeoutNs, false);
    }

    /**
     * What the poller counts.
     *
     * @return live counters
     */
    public PollerCounters pollerCounters() {
        return pollerCounters;
    }

    /**
     * How many published slots some handler has not passed yet, or holds back.
     *
     * @return a moment's value
     */
    public long occupancy() {
        return handlers.ring().occupancy();
    }

    /**
     * How many slots the handlers hold back.
     *
     * @return a moment's value
     */
    public long held() {
        return handlers.held();
    }

    /**
     * How many exceptions the handlers have thrown.
     *
     * @return of all handlers together
     */
    public long handlerExceptions() {
        return handlers.counters().stream().mapToLong(counters -> counters.exceptions.get()).sum();
    }

    /**
     * For how long each handler has been the one behind which the ring was full.
     *
     * @param handlerName as it was given, or {@link Thread#getName} of its thread
     * @return nanoseconds; 0 if there is no handler of that name
     */
    public long heldBackNs(final String handlerName) {
        Objects.requireNonNull(handlerName, "handlerName is null");
        final int position = handlers.indexOf(handlerName);
        return position < 0 ? 0 : handlers.counters().get(position).heldBackNs.get();
    }

    /**
     * The polling thread, for whoever wants to watch it.
     *
     * @return the thread
     */
    public Thread pollerThread() {
        return pollerThread.thread();
    }

    /**
     * The handlers' threads, in the order in which the handlers were described.
     *
     * @return the threads; none if the handlers run on the polling thread
     */
    public List<Thread> handlerThreads() {
        return handlers.threads();
    }

    /**
     * The counters file, by which the pipeline is watched from outside.
     *
     * @return null if there is none
     */
    public Path countersFile() {
        return countersFile.path();
    }

    /**
     * The state of the pipeline.
     *
     * @return a moment's value
     */
    public PipelineState state() {
        return lifeCycle.state();
    }

    /**
     * Why the pipeline polls no more although nobody stopped it: what a handler with {@link FailurePolicy#HALT} threw.
     *
     * @return null while all is well
     */
    public Throwable failure() {
        return failure.get();
    }

    /**
     * Goes through the distinct exceptions that handlers and queues have thrown.
     *
     * @param line takes one line for each: how often, and the stack trace
     */
    public void readErrors(final Consumer<String> line) {
        Objects.requireNonNull(line, "the consumer of lines (line) is null");
        ErrorLogReader.read(
            countersFile.errorLog().buffer(),
            (count, firstMs, lastMs, encoded) -> line.accept(count + " times: " + encoded));
    }

    private void startThreads(final PipelineBuilder description) {
        final Deadline deadline = Deadline.after(description.startTimeoutNs);
        description.queues.forEach(this::addQueue);
        handlers.start(startGate);
        startGate.await(deadline);
        pollerThread.start();
        startGate.await(deadline);
    }

    /** As {@link #close(long)} by another thread, whoever calls: what is known now is returned. */
    PipelineReport closeWithoutWaiting(final long timeoutNs) {
        return stop.closeWithoutWaiting(timeoutNs);
    }

    /** Whether the end of this pipeline waits for the calling thread. */
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

    PollerThread polling() {
        return pollerThread;
    }

    CountersFile counters() {
        return countersFile;
    }

    private Handlers newHandlers(final PipelineBuilder description, final HandlerContext context) {
        return description.runsToCompletion ?
            new RunToCompletionHandlers(description.settledHandlers(), slab, countersFile.counters(), context) :
            new ThreadedHandlers(description.settledHandlers(), slab, countersFile.counters(), context, startGate,
                description.threads);
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

    /** Something that takes a bounded time. */
    @FunctionalInterface
    private interface BoundedAction {
        void run() throws TimeoutException;
    }

    /** What handlers' threads reach of this pipeline. */
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
        public void onHandlerDied(final String roleName, final Throwable cause) {
            handlers.onHandlerDied();
            halt(roleName, cause);
        }
    }
}
