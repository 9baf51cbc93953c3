package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.poller.CompletionPoller;
import io.ringpoll.poller.PollerCounters;
import io.ringpoll.verbs.CompletionQueue;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SystemEpochClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.errors.DistinctErrorLog;
import org.agrona.concurrent.errors.ErrorLogReader;
import org.agrona.concurrent.status.CountersManager;

/**
 * Completions on their way: one polling thread, the ring, and a thread for each handler.
 *
 * <p>Methods may be called from any thread but the poller's and the handlers' own.
 * {@link #close()} stops polling, lets the handlers finish what was polled, and ends the threads; it may be called again.
 */
public final class Pipeline implements AutoCloseable {
    private static final int COUNTER_VALUES_BYTES = 64 * 1024;
    private static final int COUNTER_METADATA_BYTES = 4 * COUNTER_VALUES_BYTES;
    private static final int ERROR_LOG_BYTES = 256 * 1024;
    private static final long DEFAULT_CLOSE_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long DEFAULT_REMOVE_NS = TimeUnit.SECONDS.toNanos(5);

    private final CompletionSlab slab;
    private final CompletionRing ring;
    private final CompletionPoller poller;
    private final PollerCounters pollerCounters;
    private final AgentRunner pollerRunner;
    private final List<CompletionProcessor> processors = new ArrayList<>();
    private final List<Thread> handlerThreads = new ArrayList<>();
    private final DistinctErrorLog errorLog =
        new DistinctErrorLog(new UnsafeBuffer(ByteBuffer.allocateDirect(ERROR_LOG_BYTES)), SystemEpochClock.INSTANCE);
    private final CountersManager counters = new CountersManager(
        new UnsafeBuffer(ByteBuffer.allocateDirect(COUNTER_METADATA_BYTES)),
        new UnsafeBuffer(ByteBuffer.allocateDirect(COUNTER_VALUES_BYTES)));

    private Thread pollerThread;
    private volatile Throwable failure;
    private PipelineReport report;

    Pipeline(
        final CompletionSlab slab, final int batchLimit, final List<HandlerSpec> handlers, final PollerSpec pollerSpec) {
        this.slab = slab;
        this.ring = new CompletionRing(slab);
        this.pollerCounters = new PollerCounters(counters, pollerSpec.roleName());
        this.poller = new CompletionPoller(pollerSpec.roleName(), ring, batchLimit, pollerCounters);
        this.pollerRunner = new AgentRunner(
            pollerSpec.idleStrategy(), this::onPollerError, null, new PinnedAgent(poller, pollerSpec.cpu()));
        addProcessors(handlers);
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
     * Adds a completion queue, which the poller polls from its next duty cycle on.
     *
     * @param queue that nobody else polls
     * @return the index that its completions carry
     */
    public int addQueue(final CompletionQueue queue) {
        return poller.queues().add(queue);
    }

    /**
     * Takes a completion queue out and waits until the poller can no longer touch it.
     *
     * @param queue that was added
     * @throws TimeoutException if the poller did not let go of it within 5 seconds; it must not be destroyed then
     */
    public void removeQueue(final CompletionQueue queue) throws TimeoutException {
        poller.queues().remove(queue, DEFAULT_REMOVE_NS);
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
     * How many published slots some handler has not passed yet.
     *
     * @return a moment's value
     */
    public long occupancy() {
        return ring.occupancy();
    }

    /**
     * How many exceptions the handlers have thrown.
     *
     * @return of all handlers together
     */
    public long handlerExceptions() {
        long sum = 0;
        for (final CompletionProcessor processor : processors) {
            sum += processor.exceptions();
        }
        return sum;
    }

    /**
     * The polling thread, for whoever wants to watch it.
     *
     * @return the thread
     */
    public Thread pollerThread() {
        return pollerThread;
    }

    /**
     * The handlers' threads, in the order in which the handlers were described.
     *
     * @return the threads
     */
    public List<Thread> handlerThreads() {
        return List.copyOf(handlerThreads);
    }

    /**
     * Why the pipeline polls no more although nobody closed it: what a handler with {@link FailurePolicy#HALT} threw.
     *
     * @return null while all is well
     */
    public Throwable failure() {
        return failure;
    }

    /**
     * Goes through the distinct exceptions that handlers have thrown.
     *
     * @param line takes one line for each: how often, and the stack trace
     */
    public void readErrors(final Consumer<String> line) {
        ErrorLogReader.read(
            errorLog.buffer(),
            (count, firstMs, lastMs, encoded) -> line.accept(count + " times: " + encoded));
    }

    /** Closes within 10 seconds; see {@link #close(long)}. */
    @Override
    public void close() {
        close(DEFAULT_CLOSE_NS);
    }

    /**
     * Stops polling, lets the handlers finish what was polled, ends the threads and frees the ring.
     *
     * <p>If a handler does not come back in time, its thread and the ring's memory are left as they are.
     *
     * @param timeoutNs bound for the whole, in nanoseconds
     * @return what was left; the same report at each further call
     */
    public synchronized PipelineReport close(final long timeoutNs) {
        if (report == null) {
            final long deadlineNs = System.nanoTime() + timeoutNs;
            pollerRunner.close(Math.max(1, (int) TimeUnit.NANOSECONDS.toMillis(timeoutNs)), thread -> { });
            final long last = ring.cursor().get();
            for (final CompletionProcessor processor : processors) {
                processor.stopAfter(last);
            }
            final boolean inTime = joinUntil(deadlineNs);
            final long unhandled = ring.occupancy();
            report = new PipelineReport(last + 1, unhandled, inTime);
            if (inTime) {
                slab.close();
            }
        }
        return report;
    }

    void start() {
        for (final CompletionProcessor processor : processors) {
            final Thread thread = new Thread(processor, processor.spec().roleName());
            thread.setDaemon(true);
            handlerThreads.add(thread);
            thread.start();
        }
        pollerThread = AgentRunner.startOnThread(pollerRunner, work -> {
            final Thread thread = new Thread(work);
            thread.setDaemon(true);
            return thread;
        });
    }

    private void addProcessors(final List<HandlerSpec> handlers) {
        final List<Sequence> sequences = new ArrayList<>();
        final List<WaitStrategy> signalled = new ArrayList<>();
        final HandlerContext context = new Context();
        for (final HandlerSpec spec : handlers) {
            final HandlerBarrier barrier = new HandlerBarrier(ring.cursor(), ring.cursor(), spec.waitStrategy());
            final CompletionProcessor processor = new CompletionProcessor(
                spec, slab, barrier, new HandlerCounters(counters, spec.roleName()), context);
            processors.add(processor);
            sequences.add(processor.sequence());
            if (spec.signalled()) {
                signalled.add(spec.waitStrategy());
            }
        }
        ring.gate(sequences.toArray(new Sequence[0]), signalled.toArray(new WaitStrategy[0]));
    }

    private boolean joinUntil(final long deadlineNs) {
        boolean ended = true;
        try {
            for (final Thread thread : handlerThreads) {
                final long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                thread.join(Math.max(1, leftMs));
                ended &= !thread.isAlive();
            }
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
        return ended;
    }

    private void onPollerError(final Throwable error) {
        errorLog.record(error);
        failure = error;
    }

    /** What handlers' threads reach of this pipeline. */
    private final class Context implements HandlerContext {
        @Override
        public DistinctErrorLog errorLog() {
            return errorLog;
        }

        @Override
        public String queueName(final int queueIndex) {
            return poller.queues().name(queueIndex);
        }

        @Override
        public void onHandlerEnded(final HandlerSpec spec, final Throwable cause) {
            failure = cause;
            ring.halt();
        }
    }
}
