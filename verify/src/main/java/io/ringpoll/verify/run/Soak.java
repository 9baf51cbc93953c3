package io.ringpoll.verify.run;

import com.sun.management.ThreadMXBean;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.verify.process.ProcessMemory;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Samples a long run: at the end of each interval the memory, the allocation of the hot threads in it, and its latencies.
 *
 * <p>Used by the main thread.
 */
final class Soak {
    private static final int INTERVALS = 40;
    private static final double SHORTEST_SECONDS = 0.5;
    private static final double LONGEST_SECONDS = 30;
    private static final long CLEANING_MS = 100;
    private static final MemoryMXBean MEMORY = ManagementFactory.getMemoryMXBean();
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final Pipeline pipeline;
    private final Accounts accounts;
    private final long intervalNs;
    private final List<Sample> samples = new ArrayList<>();
    private final Histogram totalNs;
    private List<Histogram> endedNs = List.of();
    private long startNs;
    private long nextNs;
    private long completions;
    private long allocated;
    private boolean measuring;

    /**
     * One interval.
     *
     * @param seconds        time from the end of the warm-up to the end of the interval
     * @param completions    completions in it
     * @param residentBytes  resident set size of the process, at its end
     * @param mallocBytes    used bytes of the C heap, at its end; -1 if unknown
     * @param heapBytes      used bytes of the Java heap, at its end, after a collection
     * @param allocatedBytes bytes allocated by the poller and handler threads, in it
     * @param p50Ns          median latency from post to handler
     * @param p99Ns          99th percentile of it
     * @param maxNs          maximum of it
     */
    record Sample(
        double seconds, long completions, long residentBytes, long mallocBytes, long heapBytes, long allocatedBytes, long p50Ns,
        long p99Ns, long maxNs) {
    }

    Soak(final Pipeline pipeline, final Accounts accounts, final double expectedSeconds) {
        this.pipeline = pipeline;
        this.accounts = accounts;
        this.totalNs = PathAccount.newHistogram();
        final double seconds = Math.clamp(expectedSeconds / INTERVALS, SHORTEST_SECONDS, LONGEST_SECONDS);
        this.intervalNs = (long) (seconds * TimeUnit.SECONDS.toNanos(1));
    }

    /** Starts after the warm-up. */
    void start() {
        startNs = System.nanoTime();
        nextNs = startNs + intervalNs;
        completions = accounts.completed();
        allocated = allocatedBytes();
        measuring = true;
    }

    /** Takes a sample if it is due; to be called often. */
    void sample() throws InterruptedException {
        if (!endedNs.isEmpty()) {
            // One check later no handler writes to the exchanged histogram any more.
            complete();
        }
        if (measuring && System.nanoTime() - nextNs >= 0) {
            nextNs += intervalNs;
            endedNs = accounts.exchangeLatencies();
        }
    }

    private void complete() throws InterruptedException {
        final long nowCompleted = accounts.completed();
        final long nowAllocated = allocatedBytes();
        // Off-heap memory of closed connections is freed by the collector and its cleaners, which run rarely here.
        System.gc();
        final long heapBytes = MEMORY.getHeapMemoryUsage().getUsed();
        TimeUnit.MILLISECONDS.sleep(CLEANING_MS);
        final Histogram latencyNs = PathAccount.newHistogram();
        endedNs.forEach(latencyNs::add);
        endedNs = List.of();
        totalNs.add(latencyNs);
        samples.add(new Sample(
            (System.nanoTime() - startNs) / (double) TimeUnit.SECONDS.toNanos(1), nowCompleted - completions,
            ProcessMemory.residentBytes(), ProcessMemory.mallocBytes(), heapBytes, nowAllocated - allocated,
            latencyNs.getValueAtPercentile(50), latencyNs.getValueAtPercentile(99), latencyNs.getMaxValue()));
        completions = nowCompleted;
        allocated = nowAllocated;
    }

    /** The report, after the last post. */
    SoakReport report() {
        return new SoakReport(List.copyOf(samples));
    }

    /** The latencies of all intervals; those of the last one, which has not ended, are still in the handlers. */
    Histogram latencyNs() {
        endedNs.forEach(totalNs::add);
        endedNs = List.of();
        return totalNs;
    }

    private long allocatedBytes() {
        long sum = THREADS.getThreadAllocatedBytes(pipeline.pollerThread().threadId());
        for (final Thread thread : pipeline.handlerThreads()) {
            sum += THREADS.getThreadAllocatedBytes(thread.threadId());
        }
        return sum;
    }
}
