package io.ringpoll.bench.micro;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.bench.baseline.CQueue;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.ffm.NativeLibrary;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.rpma.Peer;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One poll of an empty extended queue with timestamps, on the loopback device: as the poller makes it, and in C. See {@link
 * PollBenchmark} for the loops and the clock.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH})
public class TimestampPollBenchmark {
    private static final String ADDRESS = "127.0.0.1";
    private static final int CALLS = 500_000;

    /** A holder class, so that the device is chosen before the handle is bound. */
    private static final class Handles {
        static final MethodHandle start_poll_critical$mh =
            NativeLibrary.criticalPointer(FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

        private Handles() {
        }
    }

    private Arena arena;
    private Peer peer;
    private VerbsCompletionQueue queue;
    private CountedQueue counted;
    private CQueue bare;
    private WorkCompletions array;
    private long records;
    private MemorySegment startPollFunction;
    private long extendedCq;
    /** A {@code struct ibv_poll_cq_attr}, which is 0. */
    private long attributes;

    /** Created by JMH. */
    public TimestampPollBenchmark() {
    }

    /** Creates the queues. */
    @Setup
    public void setUp() {
        Device.choose(DeviceKind.LOOPBACK);
        array = WorkCompletions.allocate(1);
        records = array.address(0, 1);
        peer = Peer.ofLocal(ADDRESS);
        queue = VerbsCompletionQueue.createWithTimestamps(peer.context(), "benchmark", 1, null);
        counted = CountedQueues.of(queue);
        bare = CQueue.open(peer.context());
        startPollFunction = MemorySegment.ofAddress(bare.startPollFunction());
        extendedCq = bare.extendedCq();
        arena = Arena.ofShared();
        attributes = arena.allocate(JAVA_LONG).address();
    }

    /** Closes them. */
    @TearDown
    public void tearDown() {
        bare.close();
        arena.close();
        queue.close();
        peer.close();
    }

    /**
     * As the poller polls it.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long timestamps() {
        long completions = 0;
        for (int i = 0; i < CALLS; i++) {
            completions += counted.pollUncounted(records, 1);
        }
        return completions;
    }

    /**
     * {@code ibv_start_poll} alone, by a bare handle.
     *
     * @return the sum of the results
     * @throws Throwable of the handle, never
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long timestampsBareCritical() throws Throwable {
        long results = 0;
        for (int i = 0; i < CALLS; i++) {
            results += (int) Handles.start_poll_critical$mh.invokeExact(i, startPollFunction, extendedCq, attributes);
        }
        return results;
    }

    /**
     * {@code ibv_start_poll} in C.
     *
     * @return nanoseconds, measured in C
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long timestampsInC() {
        return bare.poll(CQueue.Call.START_POLL, 1, CALLS);
    }
}
