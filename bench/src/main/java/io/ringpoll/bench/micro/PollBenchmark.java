package io.ringpoll.bench.micro;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.bench.baseline.CQueue;
import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.internal.verbs.CountedQueues;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
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
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * One poll of the synthetic queue: through the binding as the poller uses it, by bare handles that are critical or plain, through
 * librpma or directly through the function of the device, and in C.
 *
 * <p>All use the same kind of loop, the Java variants in Java and the C variants in C, so that the loop of JMH is part of none.
 * All queues are created before and closed after the measured time, and one clock measures all: JMH's, which is the clock of the
 * C functions too (CLOCK_MONOTONIC).
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 200, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH})
public class PollBenchmark {
    private static final int CALLS = 500_000;
    private static final int MAX_BATCH = 1024;
    private static final int CACHE_LINE_BYTES = 64;
    private static final FunctionDescriptor RPMA_CQ_GET_WC =
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final FunctionDescriptor POLL_CQ = FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_LONG);

    /** Bare handles; a holder class, so that the device is chosen before they are bound. */
    private static final class Handles {
        static final MethodHandle rpma_cq_get_wc_critical$mh =
            Libraries.current().rpma().critical("rpma_cq_get_wc", RPMA_CQ_GET_WC);
        static final MethodHandle rpma_cq_get_wc_plain$mh =
            Libraries.current().rpma().plain("rpma_cq_get_wc", RPMA_CQ_GET_WC);
        static final MethodHandle poll_cq_critical$mh = NativeLibrary.criticalPointer(POLL_CQ);
        static final MethodHandle poll_cq_plain$mh = NativeLibrary.plainPointer(POLL_CQ);

        private Handles() {
        }
    }

    /** Maximum and actual completions per poll; 0: the queue is empty. */
    @Param({"0", "1", "8", "32", "128"})
    public int batch;

    private Arena arena;
    private SyntheticSource source;
    private RpmaCompletionQueue queue;
    private CountedQueue counted;
    private VerbsCompletionQueue verbs;
    private CountedQueue countedVerbs;
    private CQueue bare;
    private MemorySegment pollFunction;
    private WorkCompletions array;
    private long records;
    private long got;
    private int asked;

    /** Created by JMH. */
    public PollBenchmark() {
    }

    /** Starts the queue. */
    @Setup
    public void setUp() {
        Device.choose(DeviceKind.LOOPBACK);
        arena = Arena.ofShared();
        array = WorkCompletions.allocate(MAX_BATCH);
        records = array.address(0, MAX_BATCH);
        got = arena.allocate(CACHE_LINE_BYTES, CACHE_LINE_BYTES).address();
        source = SyntheticSource.open();
        queue = source.queue();
        verbs = VerbsCompletionQueue.create(source.context(), "benchmark", 1, null);
        counted = CountedQueues.of(queue);
        countedVerbs = CountedQueues.of(verbs);
        bare = CQueue.open(source.context());
        pollFunction = MemorySegment.ofAddress(bare.pollFunction());
        asked = batch == 0 ? 1 : batch;
        if (batch == 0) {
            source.stop();
        } else {
            source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation()));
        }
    }

    /** Closes all resources. */
    @TearDown
    public void tearDown() {
        bare.close();
        verbs.close();
        source.close();
        arena.close();
    }

    /**
     * As the poller: librpma, critical, with the guard of the binding against a concurrent close.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long librpma() {
        long completions = 0;
        for (int i = 0; i < CALLS; i++) {
            completions += counted.pollUncounted(records, asked);
        }
        return completions;
    }

    /**
     * As a caller without a poller: the budget of the queue checks each completion.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long librpmaCounted() {
        long completions = 0;
        for (int i = 0; i < CALLS; i++) {
            completions += queue.poll(array, 0, asked);
        }
        return completions;
    }

    /**
     * As the poller polls a verbs queue.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long direct() {
        long completions = 0;
        for (int i = 0; i < CALLS; i++) {
            completions += countedVerbs.pollUncounted(records, asked);
        }
        return completions;
    }

    /**
     * librpma, critical, without a guard.
     *
     * @return results
     * @throws Throwable never
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long librpmaBareCritical() throws Throwable {
        long results = 0;
        for (int i = 0; i < CALLS; i++) {
            results += (int) Handles.rpma_cq_get_wc_critical$mh.invokeExact(i, bare.rpmaCq(), asked, records, got);
        }
        return results;
    }

    /**
     * librpma by an ordinary downcall.
     *
     * @return results
     * @throws Throwable never
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long librpmaBarePlain() throws Throwable {
        long results = 0;
        for (int i = 0; i < CALLS; i++) {
            results += (int) Handles.rpma_cq_get_wc_plain$mh.invokeExact(bare.rpmaCq(), asked, records, got);
        }
        return results;
    }

    /**
     * The function of the device, critical.
     *
     * @return completions
     * @throws Throwable never
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long directBareCritical() throws Throwable {
        long completions = 0;
        for (int i = 0; i < CALLS; i++) {
            completions += (int) Handles.poll_cq_critical$mh.invokeExact(i, pollFunction, bare.ibvCq(), asked, records);
        }
        return completions;
    }

    /**
     * The function of the device by an ordinary downcall.
     *
     * @return completions
     * @throws Throwable never
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long directBarePlain() throws Throwable {
        long completions = 0;
        for (int i = 0; i < CALLS; i++) {
            completions += (int) Handles.poll_cq_plain$mh.invokeExact(pollFunction, bare.ibvCq(), asked, records);
        }
        return completions;
    }

    /**
     * {@code rpma_cq_get_wc} in C.
     *
     * @return nanoseconds, measured in C
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long librpmaInC() {
        return bare.poll(CQueue.Call.RPMA_CQ_GET_WC, asked, CALLS);
    }

    /**
     * {@code ibv_poll_cq} in C.
     *
     * @return nanoseconds, measured in C
     */
    @Benchmark
    @OperationsPerInvocation(CALLS)
    public long directInC() {
        return bare.poll(CQueue.Call.IBV_POLL_CQ, asked, CALLS);
    }
}
