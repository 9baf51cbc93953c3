package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionQueue;
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
 * Several pollers, each with a ring, handlers and a share of the completion queues of its own, started and ended as one.
 *
 * <p>Completions of one queue stay in their order, since a queue belongs to one poller; those of different pollers have none. A
 * handler object that is given to several of the pipelines is called by several threads. Methods may be called from any thread.
 *
 * <pre>{@code
 * PipelineGroup.start(2, i -> Pipeline.builder().name("shard-" + i).pollerCpu(2 + i).onAll(handlers[i]));
 * }</pre>
 */
public final class PipelineGroup implements AutoCloseable {
    private static final String NO_QUEUE = "the completion queue to be added is null";
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);

    private final List<Pipeline> pipelines;
    /** Guarded by itself, which is never held while a poller is waited for: its handlers may call this group. */
    private final Map<CompletionQueue, Place> places = new IdentityHashMap<>();

    /** Where a queue is. */
    private static final class Place {
        private final Pipeline pipeline;
        /** Whether the pipeline has it; false while it is being added. Guarded by the map. */
        private boolean added;

        Place(final Pipeline pipeline) {
            this.pipeline = pipeline;
        }
    }

    private PipelineGroup(final List<Pipeline> pipelines) {
        this.pipelines = List.copyOf(pipelines);
    }

    /**
     * Starts pipelines.
     *
     * @param pollers     how many, at least 1
     * @param description of each, by its position from 0 on; names, CPUs, idle strategies and handlers are for each its own
     * @return the running pipelines
     * @throws IllegalArgumentException as {@link PipelineBuilder#start()}, or if two pipelines have one name; none is left
     *     running then
     * @throws PipelineStartException   as {@link PipelineBuilder#start()}; none is left running then
     */
    public static PipelineGroup start(final int pollers, final IntFunction<PipelineBuilder> description) {
        Objects.requireNonNull(description, "the description of the pipelines is null");
        if (pollers < 1) {
            throw new IllegalArgumentException("a group of " + pollers + " pollers: at least 1 is needed");
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
                            "two pipelines of the group are named " + builder.name + ": give each a name of its own");
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
     * The pipelines, in their order.
     *
     * @return the same at each call
     */
    public List<Pipeline> pipelines() {
        return pipelines;
    }

    /**
     * The state of the group, which is that of the pipeline that has come least far: queues can be added while it is RUNNING.
     *
     * @return a moment's value; HALTED if all pipelines that are not closed have halted
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
     * Adds a completion queue to the poller that has the fewest, of those that poll.
     *
     * @param queue that nobody else polls
     * @return the pipeline that has it
     * @throws IllegalStateException as {@link Pipeline#addQueue}, or if all pipelines have halted or been closed
     */
    public Pipeline addQueue(final CompletionQueue queue) {
        Objects.requireNonNull(queue, NO_QUEUE);
        while (true) {
            final Pipeline candidate = fewest();
            try {
                return addQueue(queue, candidate);
            } catch (final IllegalStateException refused) {
                if (candidate.state().takesQueues()) {
                    throw refused;
                }
                // It has ended meanwhile: another one takes the queue.
            }
        }
    }

    /**
     * Adds a completion queue to a poller of choice.
     *
     * @param queue    that nobody else polls
     * @param position of the pipeline, asked with the queue
     * @return the pipeline that has it
     * @throws IllegalStateException     as {@link Pipeline#addQueue}, or if a pipeline of the group has the queue
     * @throws IndexOutOfBoundsException if there is no such pipeline
     */
    public Pipeline addQueue(final CompletionQueue queue, final ToIntFunction<CompletionQueue> position) {
        Objects.requireNonNull(queue, NO_QUEUE);
        Objects.requireNonNull(position, "the position of the pipeline is null");
        return addQueue(queue, pipelines.get(position.applyAsInt(queue)));
    }

    /**
     * Takes a completion queue out and waits until its poller can no longer touch it. A queue that is just being added by another
     * thread is not there yet.
     *
     * @param queue that was added
     * @throws TimeoutException as {@link Pipeline#removeQueue}
     */
    public void removeQueue(final CompletionQueue queue) throws TimeoutException {
        Objects.requireNonNull(queue, "the queue to be removed is null");
        final Place place;
        synchronized (places) {
            place = places.get(queue);
            if (place == null || !place.added) {
                return;
            }
        }
        place.pipeline.removeQueue(queue);
        synchronized (places) {
            places.remove(queue, place);
        }
    }

    /**
     * Drains all pipelines; they go on.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return a report for each, in their order
     */
    public List<PipelineReport> drain(final long timeoutNs) {
        final Deadline deadline = Deadline.after(timeoutNs);
        return pipelines.stream().map(pipeline -> pipeline.drain(deadline.leftNs())).toList();
    }

    /** Drains and stops all pipelines within 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Drains and stops all pipelines, at the same time. Called on a thread of one of them, or by user code that the end of one
     * calls, this begins the end of all on other threads and returns: handlers of several pipelines may call it at once.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return a report for each, in their order; the same at each further call, but for calls that return before the reports are
     *     made
     */
    public List<PipelineReport> close(final long timeoutNs) {
        // Whatever such a thread waited for could wait for it, by a handler of another pipeline that does the same.
        return pipelines.stream().anyMatch(Pipeline::waitsForCaller)
            ? pipelines.stream().map(pipeline -> pipeline.closeWithoutWaiting(timeoutNs)).toList()
            : close(pipelines, timeoutNs);
    }

    private static List<PipelineReport> close(final List<Pipeline> pipelines, final long timeoutNs) {
        final Deadline deadline = Deadline.after(timeoutNs);
        final List<Thread> closers = new ArrayList<>();
        Pipeline here = null;
        for (final Pipeline pipeline : pipelines) {
            if (here == null) {
                here = pipeline;
            } else {
                closers.add(startClosing(pipeline, deadline));
            }
        }
        if (here != null) {
            here.close(deadline.leftNs());
        }
        closers.forEach(deadline::join);
        return pipelines.stream().map(pipeline -> pipeline.close(0)).toList();
    }

    /** Closes a pipeline on a thread of its own, or on this one if there is none to be had. */
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

    private Pipeline addQueue(final CompletionQueue queue, final Pipeline pipeline) {
        final Place place = new Place(pipeline);
        synchronized (places) {
            if (places.putIfAbsent(queue, place) != null) {
                throw new IllegalStateException(queue.name() + " is already polled");
            }
        }
        boolean added = false;
        try {
            pipeline.addQueue(queue);
            added = true;
        } finally {
            synchronized (places) {
                place.added = added;
                if (!added) {
                    places.remove(queue, place);
                }
            }
        }
        return pipeline;
    }

    private Pipeline fewest() {
        Pipeline fewest = null;
        for (final Pipeline pipeline : pipelines) {
            if (pipeline.state().takesQueues() && (fewest == null || queues(pipeline) < queues(fewest))) {
                fewest = pipeline;
            }
        }
        if (fewest == null) {
            throw new IllegalStateException("no pipeline of the group polls any more: all have halted or been closed");
        }
        return fewest;
    }

    private static int queues(final Pipeline pipeline) {
        return pipeline.poller().queues().size();
    }
}
