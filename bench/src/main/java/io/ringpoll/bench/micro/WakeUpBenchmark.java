package io.ringpoll.bench.micro;

import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.IdleStrategy;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The time to wake a polling thread after an idle time: from the post of a write, by the thread that waits for it, to the moment
 * at which the polling thread has its completion. Busy spin is the baseline.
 *
 * <p>A strategy that backs off waits the longer, the longer it was idle, so each idle time has its own distribution. The posts
 * have no fixed phase to the sleeps of the strategy: each idle time is drawn from one to two times its parameter.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.SampleTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH})
public class WakeUpBenchmark {
    private static final String ADDRESS = "127.0.0.1";
    private static final int PORT = 7494;
    private static final int SIZE_BYTES = 64;

    /** The wait of the polling thread. {@link WaitMode#BLOCK} needs a poller of the library: see {@code ./ringpoll idle}. */
    @Param({"BUSY_SPIN", "YIELD", "SLEEP"})
    public WaitMode wait;

    /** The shortest idle time before a post, in microseconds; the longest is twice this. */
    @Param({"50", "300", "1000", "10000"})
    public int quietUs;

    private final SplittableRandom random = new SplittableRandom(1);
    private LinkedPair pair;
    private Thread poller;
    private volatile boolean stopped;
    private volatile long polled;

    /** Created by JMH. */
    public WakeUpBenchmark() {
    }

    /** Connects and starts the polling thread. */
    @Setup
    public void setUp() {
        Device.choose(DeviceKind.LOOPBACK);
        pair = new LinkedPair(RdmaApi.RPMA, ADDRESS, PORT);
        final CompletionQueue queue = pair.client().connection().completionQueue();
        final WorkCompletions record = WorkCompletions.allocate(1);
        final IdleStrategy strategy = wait.newIdleStrategy();
        poller = new Thread(() -> poll(queue, record, strategy), "bench-poller");
        poller.setDaemon(true);
        poller.start();
    }

    /**
     * Ends the polling thread and disconnects.
     *
     * @throws InterruptedException if JMH interrupts the thread
     */
    @TearDown
    public void tearDown() throws InterruptedException {
        stopped = true;
        poller.join();
        pair.close();
    }

    /** Leaves the queue empty for a time. */
    @Setup(Level.Invocation)
    public void quiet() {
        final long quietNs = TimeUnit.MICROSECONDS.toNanos(quietUs);
        final long untilNs = System.nanoTime() + quietNs + random.nextLong(quietNs);
        long remainingNs = untilNs - System.nanoTime();
        while (remainingNs > 0) {
            // It may return early.
            LockSupport.parkNanos(remainingNs);
            remainingNs = untilNs - System.nanoTime();
        }
    }

    /**
     * Posts a write and waits until the polling thread has its completion.
     *
     * @return completions so far
     */
    @Benchmark
    public long postToPolled() {
        final long before = polled;
        if (!pair.client().connection().write(
            pair.client().peerMemory(), 0, pair.client().memory(), 0, SIZE_BYTES, true, before)) {
            throw new IllegalStateException("the send queue is full with nothing in flight");
        }
        long now = polled;
        while (now == before) {
            Thread.onSpinWait();
            now = polled;
        }
        return now;
    }

    private void poll(final CompletionQueue queue, final WorkCompletions record, final IdleStrategy strategy) {
        long count = 0;
        while (!stopped) {
            final int got = queue.poll(record, 0, 1);
            if (got > 0) {
                count += got;
                polled = count;
            }
            strategy.idle(got);
        }
    }
}
