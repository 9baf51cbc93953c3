package io.ringpoll.bench.handoff;

import com.lmax.disruptor.Sequence;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.IbvWc;
import io.ringpoll.verbs.WorkCompletions;
import java.util.concurrent.TimeUnit;
import org.agrona.BufferUtil;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * The usual alternative: one thread polls into a buffer and copies each completion into a queue, another one consumes them.
 *
 * <p>All completions are passed to one handler, regardless of the paths of the job.
 */
abstract class CopyingHandOff implements HandOff.Running {
    private static final long STOP_MS = TimeUnit.SECONDS.toMillis(10);
    private static final int CACHE_LINE_BYTES = 64;

    /** The work of the consumer. */
    protected final Work work;
    /** Waits for room; producer thread. */
    protected final IdleStrategy producerIdle;

    private final Job job;
    private final UnsafeBuffer staging;
    private final Sequence polled = new Sequence(0);
    private final Sequence handled = new Sequence(0);
    private final Thread producer = new Thread(() -> run(job().cpus().poller(), this::produce), "bench-producer");
    private final Thread consumer = new Thread(() -> run(job().cpus().handler(0), this::consume), "bench-consumer");
    private volatile boolean stopProducing;
    private volatile boolean stopConsuming;
    private volatile String fault = "";

    /** The loop of a thread; it may block. */
    private interface Loop {
        void run() throws InterruptedException;
    }

    CopyingHandOff(final Job job) {
        this.job = job;
        this.work = Work.of(job);
        this.producerIdle = IdleStrategies.of(job.waitStrategy());
        this.staging = new UnsafeBuffer(BufferUtil.allocateDirectAligned(job.batch() * IbvWc.SIZE_BYTES, CACHE_LINE_BYTES));
        producer.setDaemon(true);
        consumer.setDaemon(true);
    }

    /** Copies the first records of the buffer into the queue and waits for room; producer thread. */
    protected abstract void put(UnsafeBuffer records, int count) throws InterruptedException;

    /** Passes the queued completions to {@link #work}; consumer thread. Returns their number, 0 if none. */
    protected abstract int take() throws InterruptedException;

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
        endConsumer();
        join(consumer);
        return new Outcome(polled.get(), work.completions(), work.sum(), work.latencyNs(), fault);
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
    protected void endConsumer() {
        stopConsuming = true;
    }

    private void produce() throws InterruptedException {
        final CompletionQueue queue = job.queue();
        final UnsafeBuffer records = staging;
        final int batch = job.batch();
        final WorkCompletions polledRecords = WorkCompletions.in(records, 0, batch);
        final IdleStrategy idle = IdleStrategies.ofPoller(job.waitStrategy());
        long sum = 0;
        while (!stopProducing) {
            final int count = queue.poll(polledRecords, 0, batch);
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
