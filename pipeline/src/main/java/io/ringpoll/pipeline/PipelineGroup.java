package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.counters.Counters;
import io.ringpoll.internal.os.Deadline;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;

/**
 * A group of pipelines that are started and closed together, each with its own poller, ring, handlers and share of the completion
 * queues.
 *
 * <p>Completions of one queue stay in order, since a queue belongs to one poller; there is no order between pollers. A handler
 * object that is passed to several pipelines is called by several threads. Thread-safe.
 * <pre>{@code
 * PipelineGroup.start(2, i -> Pipeline.builder().name("shard-" + i).pollerCpu(2 + i).onAll(handlers[i]));
 * }</pre>
 */
public final class PipelineGroup implements AutoCloseable {
    private static final String NO_QUEUE = "the completion queue to be added is null";
    private static final String NO_QUEUE_REMOVED = "the queue to be removed is null";
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);

    private final List<Pipeline> pipelines;
    /** Guarded by its own lock. This is not held during waits for a poller: handlers may call this group. */
    private final Map<CompletionQueue, Membership> memberships = new IdentityHashMap<>();

    /** The pipeline of a queue. */
    private static final class Membership {
        private final Pipeline pipeline;
        /** False while the queue is being added to the pipeline; guarded by the map. */
        private boolean added;

        Membership(final Pipeline pipeline) {
            this.pipeline = pipeline;
        }
    }

    private PipelineGroup(final List<Pipeline> pipelines) {
        this.pipelines = List.copyOf(pipelines);
    }

    /**
     * Starts the pipelines.
     *
     * @param pollers     number of pipelines, at least 1
     * @param description builder of each pipeline by index from 0 on; names, CPUs, idle strategies and handlers are not shared
     * @return the running group
     * @throws IllegalArgumentException as {@link PipelineBuilder#start()}, or if two pipelines have the same name; none is left
     *     running
     * @throws PipelineStartException   as {@link PipelineBuilder#start()}; none is left running
     */
    public static PipelineGroup start(final int pollers, final IntFunction<PipelineBuilder> description) {
        Objects.requireNonNull(description, "the description of the pipelines is null");
        if (pollers < 1) {
            throw new IllegalArgumentException("a group of " + pollers + " pollers: use at least 1");
        }
        final List<Pipeline> started = new ArrayList<>();
        try {
            for (int i = 0; i < pollers; i++) {
                final PipelineBuilder builder = description.apply(i);
                if (builder == null) {
                    throw new IllegalArgumentException("the description of pipeline " + i + " is null");
                }
                for (final Pipeline other : started) {
                    if (other.name().equals(builder.name)) {
                        throw new IllegalArgumentException(
                            "two pipelines of the group are named " + builder.name + ": use unique names");
                    }
                }
                started.add(builder.start());
            }
            return new PipelineGroup(started);
        } catch (final RuntimeException | Error failed) {
            close(started, DEFAULT_CLOSE_NS);
            throw failed;
        }
    }

    /**
     * The pipelines, by index.
     *
     * @return always the same list
     */
    public List<Pipeline> pipelines() {
        return pipelines;
    }

    /**
     * Reads all counters of the pipelines, which differ by the attribute {@code pipeline}.
     *
     * @return a snapshot, as {@link Pipeline#counters()}
     */
    public Counters counters() {
        return Counters.of(pipelines.stream().map(Pipeline::counters).toList());
    }

    /**
     * The state of the group, which is that of its least advanced pipeline; queues can be added while it is RUNNING.
     *
     * @return a snapshot; HALTED if all pipelines that are not closed have halted
     */
    public PipelineState state() {
        PipelineState least = PipelineState.CLOSED;
        for (final Pipeline pipeline : pipelines) {
            final PipelineState state = pipeline.state();
            if (state.compareTo(least) < 0) {
                least = state;
            }
        }
        return least;
    }

    /**
     * Adds a completion queue to the polling pipeline with the fewest queues.
     *
     * @param queue polled by this group only
     * @return the pipeline to which it was added
     * @throws IllegalStateException as {@link Pipeline#addQueue}, or if all pipelines have halted or been closed
     */
    public Pipeline addQueue(final CompletionQueue queue) {
        return addQueue(queue, (Object) null);
    }

    /**
     * Adds a completion queue with an attachment to the polling pipeline with the fewest queues.
     *
     * @param queue      polled by this group only
     * @param attachment as for {@link Pipeline#addQueue(CompletionQueue, Object)}
     * @return the pipeline to which it was added
     * @throws IllegalStateException as {@link Pipeline#addQueue}, or if all pipelines have halted or been closed
     */
    public Pipeline addQueue(final CompletionQueue queue, final Object attachment) {
        Objects.requireNonNull(queue, NO_QUEUE);
        while (true) {
            final Pipeline candidate = fewest();
            try {
                return addQueue(queue, attachment, candidate);
            } catch (final IllegalStateException refused) {
                if (takesQueues(candidate)) {
                    throw refused;
                }
                // The pipeline has ended meanwhile: try another.
            }
        }
    }

    /**
     * Adds a completion queue to a pipeline of the caller's choice.
     *
     * @param queue    polled by this group only
     * @param position index of the pipeline for the queue; null, which a compiler takes for this type rather than for an
     *                 attachment, as {@link #addQueue(CompletionQueue)}
     * @return the pipeline to which it was added
     * @throws IllegalStateException     as {@link Pipeline#addQueue}, or if a pipeline of the group already polls the queue
     * @throws IndexOutOfBoundsException if there is no such pipeline
     */
    public Pipeline addQueue(final CompletionQueue queue, final ToIntFunction<CompletionQueue> position) {
        return position == null ? addQueue(queue) : addQueue(queue, null, position);
    }

    /**
     * Adds a completion queue with an attachment to a pipeline of the caller's choice.
     *
     * @param queue      polled by this group only
     * @param attachment as for {@link Pipeline#addQueue(CompletionQueue, Object)}
     * @param position   index of the pipeline for the queue
     * @return the pipeline to which it was added
     * @throws IllegalStateException     as {@link Pipeline#addQueue}, or if a pipeline of the group already polls the queue
     * @throws IndexOutOfBoundsException if there is no such pipeline
     */
    public Pipeline addQueue(
        final CompletionQueue queue, final Object attachment, final ToIntFunction<CompletionQueue> position) {
        Objects.requireNonNull(queue, NO_QUEUE);
        Objects.requireNonNull(position, "the position of the pipeline is null");
        return addQueue(queue, attachment, pipelines.get(position.applyAsInt(queue)));
    }

    /**
     * Removes a completion queue and waits until its poller no longer accesses it. No effect on a queue that another thread is
     * still adding.
     *
     * @param queue that was added
     * @throws TimeoutException as {@link Pipeline#removeQueue(CompletionQueue)}
     */
    public void removeQueue(final CompletionQueue queue) throws TimeoutException {
        Objects.requireNonNull(queue, NO_QUEUE_REMOVED);
        final Membership membership = membership(queue);
        if (membership != null) {
            membership.pipeline.removeQueue(queue);
            remove(queue, membership);
        }
    }

    /**
     * Removes a completion queue and waits until the handlers of its pipeline have passed each completion that was polled from
     * it, see {@link Pipeline#removeQueue(CompletionQueue, long)}.
     *
     * @param queue     that was added; there is no effect on a queue that was not, or that another thread is still adding
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less does not wait
     * @return true if the handlers have passed the completions, or the queue is not in the group
     * @throws TimeoutException as {@link Pipeline#removeQueue(CompletionQueue, long)}
     */
    public boolean removeQueue(final CompletionQueue queue, final long timeoutNs) throws TimeoutException {
        Objects.requireNonNull(queue, NO_QUEUE_REMOVED);
        final Membership membership = membership(queue);
        if (membership == null) {
            return true;
        }
        final boolean handled = membership.pipeline.removeQueue(queue, timeoutNs);
        remove(queue, membership);
        return handled;
    }

    /**
     * Drains all pipelines; they continue.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less does not wait
     * @return a report per pipeline, by index
     */
    public List<PipelineReport> drain(final long timeoutNs) {
        final Deadline deadline = Deadline.after(timeoutNs);
        return pipelines.stream().map(pipeline -> pipeline.drain(deadline.leftNs())).toList();
    }

    /** Drains and stops all pipelines with a time-out of 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Drains and stops all pipelines concurrently, except that agents which the calling thread invokes are closed one after the
     * other, each with a share of the time. A call on a thread of one of them, or by user code that is called during the
     * close of one, starts the close of all on other threads and returns; several handlers may call it concurrently.
     *
     * @param timeoutNs time-out of the whole call, in nanoseconds; 0 or less does not wait
     * @return a report per pipeline, by index; the same at each further call, except for calls that return before the reports
     *     have been made
     */
    public List<PipelineReport> close(final long timeoutNs) {
        // A wait by such a thread could deadlock with a handler of another pipeline that does the same.
        return pipelines.stream().anyMatch(Pipeline::waitsForCaller)
            ? pipelines.stream().map(pipeline -> pipeline.closeWithoutWaiting(timeoutNs)).toList()
            : close(pipelines, timeoutNs);
    }

    /** The membership of a queue; null if it has none yet. */
    private Membership membership(final CompletionQueue queue) {
        synchronized (memberships) {
            final Membership membership = memberships.get(queue);
            return membership != null && membership.added ? membership : null;
        }
    }

    private void remove(final CompletionQueue queue, final Membership membership) {
        synchronized (memberships) {
            memberships.remove(queue, membership);
        }
    }

    private static List<PipelineReport> close(final List<Pipeline> pipelines, final long timeoutNs) {
        final Deadline deadline = Deadline.after(timeoutNs);
        // Agents that this thread invokes: no other thread makes their duty cycles.
        final List<Pipeline> here = new ArrayList<>(pipelines.stream()
            .filter(pipeline -> pipeline.pollerThread() == Thread.currentThread()).toList());
        final List<Pipeline> elsewhere = new ArrayList<>(pipelines);
        elsewhere.removeAll(here);
        if (here.isEmpty() && !elsewhere.isEmpty()) {
            here.add(elsewhere.removeFirst());
        }
        final List<Thread> closers = elsewhere.stream().map(pipeline -> startClosing(pipeline, deadline)).toList();
        for (int i = 0; i < here.size(); i++) {
            // Shares of the time: a slow one leaves some to the next ones.
            here.get(i).close(deadline.leftNs() / (here.size() - i));
        }
        closers.forEach(deadline::join);
        return pipelines.stream().map(pipeline -> pipeline.close(0)).toList();
    }

    /** Closes a pipeline on a new thread, or on this one if none can be created. */
    private static Thread startClosing(final Pipeline pipeline, final Deadline deadline) {
        final Thread closer = new Thread(() -> pipeline.close(deadline.leftNs()), pipeline.name() + "-closer");
        closer.setDaemon(true);
        try {
            closer.start();
        } catch (final OutOfMemoryError noThread) {
            pipeline.close(deadline.leftNs());
        }
        return closer;
    }

    private Pipeline addQueue(final CompletionQueue queue, final Object attachment, final Pipeline pipeline) {
        final Membership membership = new Membership(pipeline);
        synchronized (memberships) {
            if (memberships.putIfAbsent(queue, membership) != null) {
                throw new IllegalStateException(queue.name() + " is already polled");
            }
        }
        boolean added = false;
        try {
            pipeline.addQueue(queue, attachment);
            added = true;
        } finally {
            synchronized (memberships) {
                membership.added = added;
                if (!added) {
                    memberships.remove(queue, membership);
                }
            }
        }
        return pipeline;
    }

    private Pipeline fewest() {
        Pipeline fewest = null;
        for (final Pipeline pipeline : pipelines) {
            if (takesQueues(pipeline) && (fewest == null || queues(pipeline) < queues(fewest))) {
                fewest = pipeline;
            }
        }
        if (fewest == null) {
            throw new IllegalStateException("no pipeline of the group is polling: all have halted or been closed" +
                (pipelines.stream().anyMatch(Pipeline::wasClosedByShutdown) ? " by JVM shutdown" : ""));
        }
        return fewest;
    }

    /** Not if the user has closed its agent only. */
    private static boolean takesQueues(final Pipeline pipeline) {
        return pipeline.state().takesQueues() && !pipeline.poller().state().isFinal();
    }

    private static int queues(final Pipeline pipeline) {
        return pipeline.poller().queues().size();
    }
}
