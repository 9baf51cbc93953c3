package io.ringpoll.bench.handoff;

import com.lmax.disruptor.Sequence;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.os.ThreadAffinity;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The usual alternative: one thread polls into a buffer and copies the {@link NeededFields} of each completion into a queue,
 * another one consumes them.
 *
 * <pre>
 *   queue -> poll (not counted) -> buffer -> put -> queue of the alternative -> take -> one handler of all paths
 * </pre>
 */
abstract class CopyingHandOff implements HandOff.Running {
    private static final long STOP_MS = TimeUnit.SECONDS.toMillis(10);
    private static final int CACHE_LINE_BYTES = 64;

    /** Elements that a consumer takes in one call. */
    static final int TAKE_LIMIT = 256;

    /** The work of the consumer. */
    protected final Work work;
    /** Waits for room; producer thread. */
    protected final IdleStrategy producerIdle;

    private final Job job;
    private final UnsafeBuffer staging;
    private final Sequence polled = new Sequence(0);
    private final Sequence handled = new Sequence(0);
    private final Thread producer = new Thread(() -> run(job().cpus().poller(), this::produce), "bench-producer");
    private final Thread consumer = new Thread(() -> run(job().cpus().handler(0), this::startConsuming), "bench-consumer");
    private volatile boolean stopProducing;
    private volatile boolean stopConsuming;
    private volatile String fault = "";

    /** The loop of a thread; it may block. */
    private interface Loop {
        void run() throws InterruptedException;
    }

    CopyingHandOff(final Job job, final Work work) {
        this.job = job;
        this.work = work;
        this.producerIdle = IdleStrategies.of(job.waitStrategy());
        this.staging = new UnsafeBuffer(BufferUtil.allocateDirectAligned(job.batch() * IbvWc.SIZE_BYTES, CACHE_LINE_BYTES));
        producer.setDaemon(true);
        consumer.setDaemon(true);
    }

    /** Copies records from an address on into the queue and waits for room; producer thread. */
    protected abstract void put(long records, int count) throws InterruptedException;

    /** Passes the queued completions to {@link #work}; consumer thread. Returns their number, 0 if none. */
    protected abstract int take() throws InterruptedException;

    /** Releases the memory of the queue; no thread uses it any more. */
    protected void release() {
        // Objects on the heap need nothing.
    }

    final CopyingHandOff start() {
        consumer.start();
        producer.start();
        return this;
    }

    @Override
    public final long polled() {
        return polled.get();
    }

    @Override
    public long handled() {
        return handled.get();
    }

    @Override
    public final Outcome stop() {
        stopProducing = true;
        join(producer);
        try {
            endConsumer();
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        join(consumer);
        if (!producer.isAlive() && !consumer.isAlive()) {
            release();
        }
        return new Outcome(polled.get(), work.completions(), work.sum(), work.latencyNs(), fault);
    }

    private void startConsuming() throws InterruptedException {
        if (job.stallUs() > 0) {
            awaitFirst();
            work.onBatchStart();
        }
        consume();
    }

    /** Waits for the first completion in the queue, so that the sleep that follows fills the queue. */
    private void awaitFirst() {
        final IdleStrategy idle = IdleStrategies.of(job.waitStrategy());
        while (polled.get() == 0 && !stopConsuming) {
            idle.idle();
        }
    }

    /** Consumes until {@link #endConsumer()} and until the queue is empty; consumer thread. */
    protected void consume() throws InterruptedException {
        final IdleStrategy idle = IdleStrategies.of(job.waitStrategy());
        long sum = 0;
        while (!stopConsuming || sum < polled.get()) {
            final int count = take();
            if (count > 0) {
                sum += count;
                handled.set(sum);
            }
            idle.idle(count);
        }
    }

    /** Signals the end of the completions to the consumer. */
    protected void endConsumer() throws InterruptedException {
        stopConsuming = true;
    }

    private void produce() throws InterruptedException {
        final CountedQueue queue = uncounted(job.queue());
        final long records = staging.addressOffset();
        final int batch = job.batch();
        final IdleStrategy idle = IdleStrategies.ofPoller(job.waitStrategy());
        long sum = 0;
        while (!stopProducing) {
            final int count = queue.pollUncounted(records, batch);
            if (count > 0) {
                put(records, count);
                sum += count;
                polled.set(sum);
            } else if (count < 0) {
                throw new IllegalStateException("rpma_cq_get_wc returned " + count);
            }
            idle.idle(count);
        }
    }

    /** The poll of ringpoll's poller, without its accounting: a consumer of records alone does not count them. */
    private CountedQueue uncounted(final CompletionQueue queue) {
        final CountedQueue counted = CountedQueues.of(queue);
        if (counted != null) {
            return counted;
        }
        final WorkCompletions records = WorkCompletions.in(staging, 0, job.batch());
        return (address, maxEntries) -> queue.poll(records, 0, maxEntries);
    }

    private Job job() {
        return job;
    }

    private void run(final int cpu, final Loop loop) {
        try {
            if (cpu != HotCpus.ANY) {
                ThreadAffinity.pin(cpu);
            }
            loop.run();
        } catch (final InterruptedException | RuntimeException failure) {
            fault = failure.toString();
        }
    }

    private void join(final Thread thread) {
        try {
            thread.join(STOP_MS);
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            fault = thread.getName() + " did not end in time";
        }
    }
}
