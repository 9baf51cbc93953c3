package io.ringpoll.bench.micro;

import io.ringpoll.bench.baseline.CLink;
import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.rpma.RpmaCompletionQueue;
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

/** A signalled operation over the loopback device, posted and polled by one thread: through the binding and in C. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 400, timeUnit = TimeUnit.MILLISECONDS)
@Measurement(iterations = 5, time = 300, timeUnit = TimeUnit.MILLISECONDS)
@Fork(value = ForkOptions.FORKS, jvmArgsAppend = {ForkOptions.HEAP, ForkOptions.MAX_HEAP, ForkOptions.PRE_TOUCH})
public class PostBenchmark {
    private static final int OPERATIONS = 20_000;
    private static final String ADDRESS = "127.0.0.1";
    private static final int PORT = 7492;
    private static final String C_PORT = "7493";

    /** Whether posts are counted, and refused before the completion queue could overrun. */
    public enum Posts {
        /** As by default. */
        COUNTED,
        /** On the poster's own responsibility. */
        UNCOUNTED
    }

    /** The posted operation. */
    @Param({"WRITE", "READ"})
    public Traffic.Operation operation;

    /** Its bytes. */
    @Param({"64", "4096"})
    public int sizeBytes;

    /** Whether the binding counts the posts. */
    @Param({"COUNTED", "UNCOUNTED"})
    public Posts posts;

    private LinkedPair pair;
    private CLink link;
    private RpmaCompletionQueue queue;
    private WorkCompletions record;

    /** Created by JMH. */
    public PostBenchmark() {
    }

    /** Connects. */
    @Setup
    public void setUp() {
        Device.choose(DeviceKind.LOOPBACK);
        record = WorkCompletions.allocate(1);
        pair = new LinkedPair(RdmaApi.RPMA, ADDRESS, PORT);
        link = CLink.open(ADDRESS, C_PORT);
        queue = (RpmaCompletionQueue) pair.client().connection().completionQueue();
        if (posts == Posts.UNCOUNTED) {
            queue.withoutBudget();
        }
    }

    /** Disconnects. */
    @TearDown
    public void tearDown() {
        link.close();
        pair.close();
    }

    /**
     * Through the binding.
     *
     * @return completions
     */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long binding() {
        long completions = 0;
        for (int i = 0; i < OPERATIONS; i++) {
            if (!post()) {
                throw new IllegalStateException("the send queue is full with nothing in flight");
            }
            int got = queue.poll(record, 0, 1);
            while (got == 0) {
                got = queue.poll(record, 0, 1);
            }
            completions += got;
        }
        return completions;
    }

    /**
     * In C.
     *
     * @return nanoseconds, measured in C
     */
    @Benchmark
    @OperationsPerInvocation(OPERATIONS)
    public long inC() {
        return link.posts(operation, sizeBytes, OPERATIONS);
    }

    private boolean post() {
        final LinkEnd end = pair.client();
        return operation == Traffic.Operation.READ ?
            end.connection().read(end.memory(), 0, end.peerMemory(), 0, sizeBytes, true, 0) :
            end.connection().write(end.peerMemory(), 0, end.memory(), 0, sizeBytes, true, 0);
    }
}
