package io.ringpoll.connections;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.connections.MessageBuffers;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.pipeline.InvokedAgent;
import io.ringpoll.internal.pipeline.SetHandler;
import io.ringpoll.internal.poller.TimedWork;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineState;
import io.ringpoll.pipeline.SlotControl;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.agrona.concurrent.status.CountersManager;

/**
 * One polling thread of a set: dispatches completions to their connections, and executes tasks and timers. The subclass defines
 * whether the connections share a completion queue. If the poller is an agent, its polling thread is the one that invokes it.
 *
 * <p>Methods of the polling thread are marked; any thread may call the others.
 */
abstract class ConnectionPoller implements CompletionHandler, SetHandler, TimedWork {
    private final ConnectionSet set;
    private final int index;
    private final ConnectionTimers timers = new ConnectionTimers();
    private final TaskQueue tasks;
    private final AtomicInteger connections = new AtomicInteger();
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private final PollerCounts counts;
    private final Runnable runTasks = this::runTasks;
    private final BooleanSupplier takesTasks;
    /** The polling thread; of an agent, the one that runs callbacks after its end; null if there is none. */
    private volatile Thread thread;
    private volatile Pipeline pipeline;
    /** Whether the polling thread has ended, or ends: the counters of the pipeline are not accessed any more. */
    private volatile boolean ended;
    /** Null if there is a polling thread. Set before the agent can be started. */
    private volatile InvokedAgent agent;

    /** The poller with index 0 publishes the counts of the set. */
    ConnectionPoller(final ConnectionSet set, final int index) {
        this.set = set;
        this.index = index;
        counts = new PollerCounts(this, set, index == 0);
        tasks = new TaskQueue(this::onListenerException);
        takesTasks = () -> !set.isClosed() && isRunning();
    }

    /**
     * Opens the completion queue that the connections share, if they do; before the pipeline starts.
     *
     * @param open opens the queue
     */
    abstract void openQueue(Supplier<SharedQueue> open);

    /** Watches for errors of the shared queue that the device reports; after {@link #begin}. */
    abstract void watchQueue(VerbsContext device);

    /** Closes the shared queue, after all connections and the pipeline. */
    abstract void closeQueue();

    /** Whether this is the queue that the connections share; any thread. */
    abstract boolean shares(RcQueue queue);

    /** Whether the queue that the connections share has failed; any thread. */
    abstract boolean hasFailed();

    /**
     * Prepares for the connection of a request; null if it has a completion queue of its own. Any thread.
     *
     * @throws IllegalStateException if the shared queue has failed
     */
    abstract ExpectedConnection expect(RcRequest request);

    /** An expected connection has ended, whether it has begun or not; any thread. Does nothing for null. */
    abstract void forget(ExpectedConnection expected);

    /** The configuration of the next connection. */
    abstract RcConfig config(RcConfig ofSet);

    /** Begins to poll a connection; polling thread. */
    abstract void add(MessageConnection connection);

    /** Polls the queue of an ending connection, which posts nothing more, until it is empty; polling thread. */
    abstract void pollLast(MessageConnection connection);

    /** Stops polling a connection, which the poller no longer accesses when this returns; polling thread. */
    abstract void remove(MessageConnection connection);

    /**
     * Executes a task when there is room in the queue again for the requests of another connection: a shared queue may contain
     * completions of queue pairs that are closed. Any thread.
     */
    abstract void whenDrained(Runnable task);

    /** The connection of a completion; null if it has ended or not begun. Polling thread. */
    abstract MessageConnection find(WorkCompletion completion);

    @Override
    public abstract void onCompletion(WorkCompletion completion, long sequence, boolean endOfBatch);

    /** Sets the running pipeline, which executes the tasks. */
    void begin(final Pipeline running) {
        pipeline = running;
        if (running.pollerThread() == null) {
            agent = (InvokedAgent) running.agent();
        }
    }

    @Override
    public void onStart(final SlotControl slots) {
        if (agent == null) {
            thread = Thread.currentThread();
        }
    }

    @Override
    public String setName() {
        return set.name();
    }

    @Override
    public void onCounters(final CountersManager counters) {
        counts.allocate(counters);
    }

    @Override
    public void onShutdown() {
        counts.run();
        ended = true;
    }

    @Override
    public void onIdle() {
        try {
            set.listener().onIdle(index);
        } catch (final Throwable failure) {
            onListenerException(failure);
        }
    }

    @Override
    public boolean isPending() {
        return timers.isPending();
    }

    @Override
    public long leftNs(final long nowNs) {
        return timers.leftNs(nowNs);
    }

    @Override
    public void run(final long nowNs) {
        timers.run(nowNs);
    }

    /**
     * Handles a completion that the end of the pipeline has taken from a queue; {@link #pollLast} handles the later ones. The
     * thread that closes the pipeline acts as the polling thread, and {@link #join} waits for it.
     */
    void onUndelivered(final WorkCompletion completion) {
        final Thread before = enterCallbacks();
        try {
            final MessageConnection connection = find(completion);
            if (connection == null) {
                return;
            }
            if (set.end().closesPipelines()) {
                connection.close();
            } else {
                connection.fail(pipelineEnd());
            }
            // Nothing more is posted.
            connection.shut();
            connection.onCompletion(completion);
        } finally {
            leaveCallbacks(before);
        }
    }

    /** Whether the calling thread may post: for an agent also between two duty cycles. */
    boolean isPollingThread() {
        return Thread.currentThread() == thread || agent != null && agent.isInvoker();
    }

    /** Whether the calling thread is in a callback or task, so that it cannot wait for this poller. */
    boolean isInCallback() {
        return Thread.currentThread() == thread || agent != null && agent.isCaller();
    }

    void requirePollingThread(final MessageConnection connection) {
        if (!isPollingThread()) {
            final Thread owner = agent != null && agent.isStarted() ? pipeline.pollerThread() : thread;
            throw new IllegalStateException(owner == null ? connection + " has no polling thread: " +
                (set.isClosed() ? "its set is closed" : "the agent is not invoked") :
                connection + " belongs to thread " + owner.getName() + ", not to " + Thread.currentThread().getName() +
                    ": call execute");
        }
    }

    /**
     * Marks the calling thread, which runs callbacks after the end of the poller: they cannot wait for it.
     *
     * @return for {@link #leaveCallbacks}
     */
    private Thread enterCallbacks() {
        final Thread before = thread;
        if (before != Thread.currentThread()) {
            thread = Thread.currentThread();
        }
        return before;
    }

    private void leaveCallbacks(final Thread before) {
        if (before != Thread.currentThread()) {
            thread = before;
        }
    }

    /**
     * Begins callbacks of the polling thread, which may be between two duty cycles of an agent: they cannot wait for this poller,
     * and no other thread takes over meanwhile.
     *
     * @return true if {@link #endCallbacks} is to follow; false within a callback or task
     * @throws IllegalStateException if another thread has taken over
     */
    boolean beginCallbacks(final MessageConnection connection) {
        if (isInCallback()) {
            return false;
        }
        final boolean begun = agent != null && agent.tryHold();
        if (!begun) {
            requirePollingThread(connection);
        }
        return begun;
    }

    void endCallbacks() {
        agent.release();
    }

    /** Executes a task on the polling thread. */
    void execute(final Runnable task) {
        tasks.add(task);
        schedule();
    }

    boolean executeUser(final Runnable task) {
        if (!tasks.offer(task, takesTasks)) {
            return false;
        }
        schedule();
        return true;
    }

    /** Number of tasks of the life cycle that wait for the polling thread. */
    int waitingTasks() {
        return tasks.waiting();
    }

    /** The tasks that wait for the polling thread. */
    TaskQueue tasks() {
        return tasks;
    }

    /** Makes the polling thread execute the tasks, if there are any. */
    void schedule() {
        if (!tasks.isEmpty() && !scheduled.get() && scheduled.compareAndSet(false, true)) {
            boolean accepted = false;
            try {
                accepted = pipeline.execute(runTasks);
            } catch (final RejectedExecutionException ended) {
                // The closing thread executes them.
            } finally {
                if (!accepted) {
                    scheduled.set(false);
                }
            }
        }
    }

    private void runTasks() {
        // First: a task that is added from now on schedules again.
        scheduled.set(false);
        tasks.run();
        schedule();
    }

    /** Makes the calling thread the polling thread, after the end of the pipeline, while it executes the tasks. */
    void adopt() {
        thread = Thread.currentThread();
        // Also that of an agent that was never started.
        ended = true;
        try {
            tasks.run();
        } finally {
            thread = null;
        }
    }

    /** Whether the pipeline polls connections, or will when its agent is started. */
    boolean isRunning() {
        return pipeline.state() == PipelineState.RUNNING && (agent == null || agent.isAlive());
    }

    /** Whether the pipeline polls connections, as far as its agent is invoked. */
    boolean isPolling() {
        return isRunning() && (agent == null || agent.isStarted());
    }

    /** Describes a pipeline that is not running. */
    String pipelineEnd() {
        final Throwable failure = pipeline.failure();
        final PipelineState state = pipeline.state();
        return (agent == null ? "the pipeline of thread " + pipeline.pollerThread().getName() :
            "the pipeline of agent " + agent.roleName()) + " is " +
            (state == PipelineState.RUNNING ? "no longer polled: the agent has ended" : state) +
            (failure == null ? "" : ": " + failure);
    }

    /** Text for the message of a time-out: names an agent that has not been started. */
    String lateness() {
        return agent == null || agent.isStarted() ? "" : ": agent " + agent.roleName() + " has not been started";
    }

    /** Whether the polling thread runs, or may still be in a callback. */
    boolean isAlive() {
        return agent == null ? pipeline.pollerThread().isAlive() : agent.isAlive();
    }

    /** Waits for the ends of the polling thread and of the close of its pipeline; false if one has not ended at the deadline. */
    boolean join(final Deadline deadline) {
        // The thread that closes the pipeline takes the completions that are left in the queues.
        return (agent == null ? deadline.join(pipeline.pollerThread()) : deadline.await(() -> !agent.isAlive())) &&
            deadline.await(() -> pipeline.state() == PipelineState.CLOSED);
    }

    /** Whether the calling thread invokes the poller, so that a wait on it makes the duty cycles. */
    boolean isInvoker() {
        return agent != null && agent.isInvoker();
    }

    /** Makes a duty cycle if the calling thread invokes the poller; returns whether there was work. */
    boolean makeOwnWork() {
        return agent != null && agent.makeOwnWork();
    }

    /** Makes the calling thread the invoking thread of an agent if the former one has ended. */
    void replaceEndedThread() {
        if (agent != null) {
            agent.replaceEndedThread();
        }
    }

    /** Whether the pipeline no longer polls for this set, and its counters may be gone; polling thread. */
    boolean hasEnded() {
        return ended;
    }

    /** Number of polls so far, of all queues; polling thread in a task, and not after the end. */
    long polls() {
        return pipeline.pollerCounters().polls();
    }

    /** Number of duty cycles that threads of the program have begun; 0 if there is a polling thread. */
    long cycles() {
        return agent == null ? 0 : agent.cycles();
    }

    /**
     * Makes the calling thread the invoking thread of an agent if no duty cycle has begun since, and neither one nor a callback
     * outside of them is under way.
     */
    void replaceIdleThread(final long since) {
        if (agent != null) {
            agent.replaceIdleThread(since);
        }
    }

    /** The running pipeline; after {@link #begin}. */
    Pipeline pipeline() {
        return pipeline;
    }

    /** The set of the connections. */
    ConnectionSet set() {
        return set;
    }

    /** The poller as an agent; null if there is a polling thread. */
    InvokedAgent agent() {
        return agent;
    }

    /** Whether the set is closed, so that this thread executes no tasks any more. */
    boolean isClosed() {
        return set.isClosed() && !isAlive();
    }

    /** Index in the set. */
    int index() {
        return index;
    }

    /** The timers of its connections; polling thread. */
    ConnectionTimers timers() {
        return timers;
    }

    ConnectionEvents events() {
        return set.events();
    }

    PollerCounts counts() {
        return counts;
    }

    /** Number of connections that are assigned to this thread. */
    AtomicInteger connections() {
        return connections;
    }

    void onListenerException(final Throwable failure) {
        set.onListenerException(failure);
    }

    /** The last callback of a connection has returned. */
    void onEnded() {
        set.places().onEnded();
    }

    void giveMemoryBack(final MessageBuffers memory) {
        set.places().giveBack(memory);
    }
}
