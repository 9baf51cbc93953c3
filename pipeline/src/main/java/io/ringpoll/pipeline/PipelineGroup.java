package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionQueue;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
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
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);

    private final List<Pipeline> pipelines;
    /** Guarded by this: who polls a queue. */
    private final Map<CompletionQueue, Pipeline> owners = new IdentityHashMap<>();

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
        if (pollers < 1) {
            throw new IllegalArgumentException("a group of " + pollers + " pollers: at least 1 is needed");
        }
        final List<Pipeline> started = new ArrayList<>();
        try {
            for (int i = 0; i < pollers; i++) {
                final PipelineBuilder builder = description.apply(i);
                for (final Pipeline other : started) {
                    if (other.name().equals(builder.name)) {
                        throw new IllegalArgumentException(
                            "two pipelines of the group are named " + builder.name + ": give each a name of its own");
                    }
                }
                started.add(builder.start());
            }
            return new PipelineGroup(started);
        } catch (final RuntimeException failed) {
            started.forEach(Pipeline::close);
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
     * Adds a completion queue to the poller that has the fewest and has not failed.
     *
     * @param queue that nobody else polls
     * @return the pipeline that has it
     * @throws IllegalStateException as {@link Pipeline#addQueue}, or if all pipelines have failed
     */
    public Pipeline addQueue(final CompletionQueue queue) {
        return addQueue(queue, ignored -> fewest());
    }

    /**
     * Adds a completion queue to a poller of choice.
     *
     * @param queue    that nobody else polls
     * @param position of the pipeline, asked with the queue
     * @return the pipeline that has it
     * @throws IllegalStateException     as {@link Pipeline#addQueue}
     * @throws IndexOutOfBoundsException if there is no such pipeline
     */
    public synchronized Pipeline addQueue(final CompletionQueue queue, final ToIntFunction<CompletionQueue> position) {
        if (owners.containsKey(queue)) {
            throw new IllegalStateException(queue.name() + " is polled already");
        }
        final Pipeline owner = pipelines.get(position.applyAsInt(queue));
        owner.addQueue(queue);
        owners.put(queue, owner);
        return owner;
    }

    /**
     * Takes a completion queue out and waits until its poller can no longer touch it.
     *
     * @param queue that was added
     * @throws TimeoutException as {@link Pipeline#removeQueue}
     */
    public synchronized void removeQueue(final CompletionQueue queue) throws TimeoutException {
        final Pipeline owner = owners.get(queue);
        if (owner != null) {
            owner.removeQueue(queue);
            owners.remove(queue);
        }
    }

    /**
     * Drains all pipelines; they go on.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return a report for each, in their order
     */
    public List<PipelineReport> drain(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        return pipelines.stream().map(pipeline -> pipeline.drain(remaining(deadlineNs))).toList();
    }

    /** Drains and stops all pipelines within 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Drains and stops all pipelines, at the same time.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return a report for each, in their order; the same at each further call
     */
    public List<PipelineReport> close(final long timeoutNs) {
        final long deadlineNs = System.nanoTime() + timeoutNs;
        final List<Thread> closers = new ArrayList<>();
        for (final Pipeline pipeline : pipelines.subList(1, pipelines.size())) {
            closers.add(Thread.ofPlatform().daemon().name(pipeline.name() + "-closer").start(() -> pipeline.close(timeoutNs)));
        }
        pipelines.getFirst().close(timeoutNs);
        boolean interrupted = false;
        for (final Thread closer : closers) {
            try {
                closer.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(remaining(deadlineNs))));
            } catch (final InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return pipelines.stream().map(pipeline -> pipeline.close(0)).toList();
    }

    private int fewest() {
        int fewest = -1;
        for (int i = 0; i < pipelines.size(); i++) {
            if (pipelines.get(i).failure() == null && (fewest < 0 || queues(i) < queues(fewest))) {
                fewest = i;
            }
        }
        if (fewest < 0) {
            throw new IllegalStateException("no pipeline of the group polls any more: all have failed");
        }
        return fewest;
    }

    private int queues(final int position) {
        return pipelines.get(position).poller().queues().size();
    }

    private static long remaining(final long deadlineNs) {
        return Math.max(0, deadlineNs - System.nanoTime());
    }
}
