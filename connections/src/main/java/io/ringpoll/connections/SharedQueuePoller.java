package io.ringpoll.connections;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.rc.RcConfig;
import io.ringpoll.internal.rc.RcQueue;
import io.ringpoll.internal.rc.RcRequest;
import io.ringpoll.poller.QueueFault;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

/** Polls connections that share one completion queue. Threads: {@link ConnectionPoller}. */
final class SharedQueuePoller extends ConnectionPoller {
    /** Set before the pipeline starts. */
    private SharedQueue shared;
    /** Tasks that wait for the next drain of the queue, and whether one is scheduled. */
    private final Queue<Runnable> waitingForDrain = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean drainScheduled = new AtomicBoolean();

    /** The poller with index 0 publishes the counts of the set. */
    SharedQueuePoller(final ConnectionSet set, final int index) {
        super(set, index);
    }

    @Override
    void openQueue(final Supplier<SharedQueue> open) {
        shared = open.get();
    }

    /** The queue of the connections; any thread. */
    SharedQueue queue() {
        return shared;
    }

    @Override
    void watchQueue(final VerbsContext device) {
        shared.watch(device, () -> execute(this::onQueueError));
    }

    /** The device has reported an error; polling thread, also while the pipeline is paused. */
    private void onQueueError() {
        shared.onFault(QueueFault.CQ_ERROR_EVENT);
        if (isRunning()) {
            // The queue leaves the round, and is counted.
            pipeline().reportQueueFault(shared.polled(), QueueFault.CQ_ERROR_EVENT);
        }
    }

    @Override
    void closeQueue() {
        // Null after a start that has failed before.
        if (shared != null) {
            shared.close();
        }
    }

    @Override
    boolean shares(final RcQueue queue) {
        return shared.queue() == queue;
    }

    @Override
    boolean hasFailed() {
        return shared.hasFailed();
    }

    @Override
    ExpectedConnection expect(final RcRequest request) {
        shared.requireWorking();
        return shared.expect(request.queuePairNumber());
    }

    @Override
    void forget(final ExpectedConnection expected) {
        if (expected != null) {
            shared.forget(expected);
        }
    }

    @Override
    RcConfig config(final RcConfig ofSet) {
        return ofSet.withQueue(shared.queue());
    }

    @Override
    public boolean owns(final CompletionQueue queue, final Object attachment) {
        return attachment == shared && queue == shared.polled();
    }

    @Override
    MessageConnection find(final WorkCompletion completion) {
        return shared.find(completion);
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final MessageConnection connection = find(completion);
        if (connection == null) {
            shared.keepEarly(completion);
            return;
        }
        try {
            connection.onCompletion(completion);
        } finally {
            // The next completion may be that of another connection.
            connection.onBatchEnd();
        }
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code, final Object attachment) {
        shared.onFault(code);
    }

    @Override
    void add(final MessageConnection connection) {
        if (!isRunning()) {
            throw new IllegalStateException(pipelineEnd());
        }
        shared.begin(connection.expected(), connection, () -> pipeline().addQueue(shared.polled(), shared));
    }

    @Override
    void pollLast(final MessageConnection connection) {
        pollLast();
    }

    /** Polls the completions that are in the queue now: those of the places of the set, at most. */
    private void pollLast() {
        shared.pollLast(this, set().places().connections());
    }

    @Override
    void remove(final MessageConnection connection) {
        shared.end(connection.expected().queuePairNumber(), connection);
    }

    @Override
    void whenDrained(final Runnable task) {
        waitingForDrain.add(task);
        if (drainScheduled.compareAndSet(false, true)) {
            execute(this::drain);
        }
    }

    /** One drain is enough for all tasks that wait before it. */
    private void drain() {
        drainScheduled.set(false);
        final int waiting = waitingForDrain.size();
        try {
            pollLast();
        } finally {
            for (int i = 0; i < waiting; i++) {
                runWaiting(waitingForDrain.poll());
            }
        }
    }

    /** A task that fails, for instance because memory cannot be deregistered, does not stop the tasks behind it. */
    private void runWaiting(final Runnable task) {
        try {
            task.run();
        } catch (final RuntimeException | Error failure) {
            set().onDefect(failure);
        }
    }
}
