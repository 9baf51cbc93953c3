package io.ringpoll.bench.micro;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HandOffs;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * The cost of a completion from a saturated queue to the handlers: ringpoll with each number of handlers and each wait strategy,
 * C, and the alternatives that copy (one handler).
 *
 * <pre>
 *   synthetic queue -> poller -> ring -> 1 to 3 handlers
 * </pre>
 *
 * <p>The hot threads belong to the hand-off; the thread of JMH only counts, and sleeps. The lag of the handlers is not controlled
 * here; {@code ringpoll throughput} does that, and measures ringpoll and C in turns in one JVM.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH,
    ForkOptions.NO_BOUNDS_CHECKS})
public class HandOffBenchmark {
    private static final int COMPLETIONS = 2_000_000;
    private static final int RING_SIZE = 8192;
    private static final int BATCH = 32;
    private static final long SLEEP_NS = 500_000;
    private static final long TIME_LIMIT_NS = TimeUnit.SECONDS.toNanos(60);

    /** The hand-off. */
    @Param({"ringpoll", "c", "array-blocking-queue-spin", "one-to-one-ring-buffer-batch", "spsc-array-queue", "plain-disruptor",
        "aeron-ipc-batch", "aeron-ipc", "array-blocking-queue", "one-to-one-ring-buffer", "many-to-one-ring-buffer"})
    public String handOff;

    /** Handlers that share the paths; the alternatives have one. */
    @Param({"1", "2", "3"})
    public int handlers;

    /** The wait strategy of all threads. */
    @Param({"BUSY_SPIN", "YIELD", "SLEEP", "BLOCK"})
    public WaitMode waitStrategy;

    private SyntheticSource source;
    private HandOff.Running running;
    private long target;

    /** Created by JMH. */
    public HandOffBenchmark() {
    }

    /** Starts the threads. */
    @Setup
    public void setUp() {
        Device.choose(DeviceKind.LOOPBACK);
        final HandOff chosen = HandOffs.of(handOff);
        if (handlers > 1 && HandOffs.allCopying().contains(chosen)) {
            throw new IllegalStateException(handOff + " has one handler, not " + handlers);
        }
        source = SyntheticSource.open();
        source.stop();
        running = chosen.start(new Job(source.queue(), source.context(), handlers, RING_SIZE, BATCH, waitStrategy,
            HotCpus.planned(handlers), 0, 0, 0));
        source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation()));
        target = running.handled();
    }

    /** Ends the threads, and checks that nothing was lost. */
    @TearDown
    public void tearDown() {
        source.stop();
        final boolean sound = running.stop().isSound(true);
        source.close();
        if (!sound) {
            throw new IllegalStateException(handOff + " lost completions");
        }
    }

    /**
     * Waits until a number of further completions has been handled.
     *
     * @return the number of completions handled so far
     * @throws TimeoutException if they are not handled in time
     */
    @Benchmark
    @OperationsPerInvocation(COMPLETIONS)
    public long completions() throws TimeoutException {
        final long deadlineNs = System.nanoTime() + TIME_LIMIT_NS;
        target += COMPLETIONS;
        long handled = running.handled();
        while (handled < target) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new TimeoutException(handOff + " makes no progress at " + handled);
            }
            LockSupport.parkNanos(SLEEP_NS);
            handled = running.handled();
        }
        return handled;
    }
}
