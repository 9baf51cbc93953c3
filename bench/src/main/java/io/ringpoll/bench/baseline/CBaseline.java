package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import org.HdrHistogram.Histogram;

/**
 * A running C baseline, with native threads.
 *
 * <p>Used by one thread.
 */
public final class CBaseline implements AutoCloseable {
    private static final int WORK_SUM = 0;
    private static final int WORK_LATENCY = 1;
    private static final int WAIT_SPIN = 0;
    private static final int WAIT_YIELD = 1;
    /** As in histogram.h: the buckets of HdrHistogram for three digits, by 2,048 values of which the upper half counts. */
    private static final int HALF_BITS = 10;
    private static final int DIGITS = 3;
    private static final long HIGHEST = (1L << 36) - 1;

    private long address;

    private CBaseline(final long address) {
        this.address = address;
    }

    /**
     * Starts a baseline on a device, with its own completion queue.
     *
     * @param device  for instance a synthetic one
     * @param options the options
     * @return the running baseline, to be stopped
     * @throws VerbsException if it cannot be started
     */
    public static CBaseline start(final VerbsContext device, final BaselineOptions options) {
        return start(device, options, null, 0);
    }

    /**
     * Starts a baseline that polls further queues after its own in each round.
     *
     * @param device  for instance a synthetic one
     * @param options the options, with at least one handler if there are further queues
     * @param more    further queues, open until the baseline has stopped; null if {@code count} is 0
     * @param count   number of the further queues that are polled
     * @return the running baseline, to be stopped
     * @throws VerbsException if it cannot be started
     */
    public static CBaseline start(
        final VerbsContext device, final BaselineOptions options, final CQueues more, final int count) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment encoded = encode(options, VerbsAccess.address(device), arena);
            putInt(encoded, "more_count", count);
            putLong(encoded, "more", count == 0 ? 0 : more.address());
            return of("baseline_start", BaselineFunctions.start(encoded.address()));
        }
    }

    /** Wraps the result of a start function. */
    static CBaseline of(final String function, final long address) {
        if (address == 0) {
            throw new VerbsException(function, CallState.current().errno());
        }
        return new CBaseline(address);
    }

    /** A {@code struct baseline_options}. */
    static MemorySegment encode(final BaselineOptions options, final long device, final Arena arena) {
        final MemorySegment encoded = arena.allocate(BaselineFunctions.OPTIONS);
        putLong(encoded, "device", device);
        putLong(encoded, "record_from_ns", options.recordFromNs());
        putLong(encoded, "record_until_ns", options.recordUntilNs());
        putInt(encoded, "ring_size", options.ringSize());
        putInt(encoded, "batch", options.batch());
        putInt(encoded, "handlers", options.handlers().size());
        putInt(encoded, "work", options.recordsLatency() ? WORK_LATENCY : WORK_SUM);
        putInt(encoded, "wait", options.yields() ? WAIT_YIELD : WAIT_SPIN);
        putInt(encoded, "stall_us", options.stallUs());
        putInt(encoded, "poller_cpu", options.pollerCpu());
        for (int i = 0; i < options.handlers().size(); i++) {
            final BaselineOptions.Handler handler = options.handlers().get(i);
            encoded.set(JAVA_INT, offset("handler_cpu") + (long) i * Integer.BYTES, handler.cpu());
            encoded.set(JAVA_INT, offset("handler_paths") + (long) i * Integer.BYTES, handler.pathBits());
        }
        return encoded;
    }

    /**
     * Completions published so far.
     *
     * @return the present count
     */
    public long published() {
        return sample("published");
    }

    /**
     * Completions that the slowest handler has passed.
     *
     * @return the present count
     */
    public long passed() {
        return sample("passed");
    }

    /**
     * Stops polling, lets the handlers finish, and ends the threads.
     *
     * @return the totals
     */
    public BaselineResult stop() {
        final long last = address;
        address = 0;
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment result = arena.allocate(BaselineFunctions.RESULT);
            BaselineFunctions.stop(last, result.address());
            long completions = 0;
            long sum = 0;
            long switches = result.get(JAVA_LONG, offset(BaselineFunctions.RESULT, "poller_switches"));
            for (int i = 0; i < BaselineFunctions.MAX_HANDLERS; i++) {
                final long handler =
                    offset(BaselineFunctions.RESULT, "handler") + i * BaselineFunctions.HANDLER_RESULT.byteSize();
                completions += result.get(JAVA_LONG, handler + offset(BaselineFunctions.HANDLER_RESULT, "completions"));
                sum += result.get(JAVA_LONG, handler + offset(BaselineFunctions.HANDLER_RESULT, "sum"));
                switches +=
                    result.get(JAVA_LONG, handler + offset(BaselineFunctions.HANDLER_RESULT, "involuntary_switches"));
            }
            return new BaselineResult(
                result.get(JAVA_LONG, offset(BaselineFunctions.RESULT, "published")), completions, sum, switches,
                result.get(JAVA_INT, offset(BaselineFunctions.RESULT, "queue_fault")), histogram(result));
        } finally {
            BaselineFunctions.free(last);
        }
    }

    /** Stops without a result, if it has not been stopped. */
    @Override
    public void close() {
        if (address != 0) {
            stop();
        }
    }

    @SuppressWarnings("restricted")
    private static Histogram histogram(final MemorySegment result) {
        final int length = result.get(JAVA_INT, offset(BaselineFunctions.RESULT, "histogram_length"));
        final MemorySegment counts = result.get(ADDRESS, offset(BaselineFunctions.RESULT, "histogram"))
            .reinterpret((long) length * Long.BYTES);
        return histogram(counts, length);
    }

    /** The values in the buckets of histogram.h. */
    static Histogram histogram(final MemorySegment counts, final int length) {
        final Histogram histogram = new Histogram(1, HIGHEST, DIGITS);
        for (int i = 0; i < length; i++) {
            final long count = counts.getAtIndex(JAVA_LONG, i);
            if (count > 0) {
                histogram.recordValueWithCount(valueAt(i), count);
            }
        }
        return histogram;
    }

    /** The lowest value of a bucket of histogram.h. */
    static long valueAt(final int index) {
        final int bucket = Math.max(0, (index >>> HALF_BITS) - 1);
        return (long) (index - (bucket << HALF_BITS)) << bucket;
    }

    private long sample(final String field) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment sample = arena.allocate(BaselineFunctions.SAMPLE);
            BaselineFunctions.sample(address, sample.address());
            return sample.get(JAVA_LONG, offset(BaselineFunctions.SAMPLE, field));
        }
    }

    private static void putLong(final MemorySegment options, final String field, final long value) {
        options.set(JAVA_LONG, offset(field), value);
    }

    private static void putInt(final MemorySegment options, final String field, final int value) {
        options.set(JAVA_INT, offset(field), value);
    }

    private static long offset(final String optionsField) {
        return offset(BaselineFunctions.OPTIONS, optionsField);
    }

    private static long offset(final StructLayout struct, final String field) {
        return struct.byteOffset(PathElement.groupElement(field));
    }
}
