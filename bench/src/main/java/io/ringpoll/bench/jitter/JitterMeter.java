package io.ringpoll.bench.jitter;

import io.ringpoll.internal.tuning.topology.CpuSet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * Measures interruptions of spinning threads: the loop in Java and the loop in C, in turns, on the same CPUs.
 *
 * <p>The turns are slices of some seconds: on a shared machine, long consecutive runs would measure different loads of the
 * machine. Used by one thread, which sleeps during the measurement.
 */
public final class JitterMeter {
    private static final long SLICE_NS = 5_000_000_000L;
    private static final long WARM_UP_NS = 1_000_000_000L;
    private static final long LEAST_FLOOR_NS = 1_000;
    private static final int FLOOR_IN_READINGS = 10;

    private final CpuSet cpus;
    private final long durationNs;
    private final long clockNs;
    private final long floorNs;
    private final Optional<CJitter> inC;

    /** Notified before each slice. */
    @FunctionalInterface
    public interface Progress {
        /**
         * A slice begins.
         *
         * @param loop    name of the loop
         * @param doneNs  time that the loop has run so far, in nanoseconds
         * @param totalNs total time of the loop, in nanoseconds
         */
        void slice(String loop, long doneNs, long totalNs);
    }

    /**
     * Creates a meter and sets its floor by the measured cost of a clock read.
     *
     * @param cpus       the CPUs to spin on
     * @param durationNs total time of each loop, in nanoseconds
     * @param withC      whether the loop in C runs too
     * @throws IOException if the loop in C exists and cannot be unpacked
     */
    public JitterMeter(final CpuSet cpus, final long durationNs, final boolean withC) throws IOException {
        this.cpus = cpus;
        this.durationNs = durationNs;
        clockNs = clockNs();
        floorNs = Math.max(LEAST_FLOOR_NS, FLOOR_IN_READINGS * clockNs);
        inC = withC ? CJitter.find(cpus, floorNs) : Optional.empty();
    }

    /** The median cost of a clock read, from many batches of readings. */
    private static long clockNs() {
        final long[] costs = new long[2_000];
        for (int i = 0; i < costs.length; i++) {
            final long begin = System.nanoTime();
            for (int reading = 0; reading < 98; reading++) {
                System.nanoTime();
            }
            costs[i] = (System.nanoTime() - begin) / 99;
        }
        // The first half warms the code up.
        final long[] warm = Arrays.copyOfRange(costs, costs.length / 2, costs.length);
        Arrays.sort(warm);
        return warm[warm.length / 2];
    }

    /**
     * Measures. Takes the duration once or, with the loop in C, twice, and a second to warm up.
     *
     * @param progress notified of each slice
     * @return the results of both loops
     * @throws IOException                if the loop in C fails
     * @throws InterruptedException       if the thread is interrupted
     * @throws io.ringpoll.os.OsException if a thread could not be pinned
     * @throws IllegalStateException      if a thread did not stay on its CPU
     */
    public JitterResult run(final Progress progress) throws IOException, InterruptedException {
        warmUp();
        List<CpuJitter> java = List.of();
        List<CpuJitter> c = List.of();
        for (long done = 0; done < durationNs; done += SLICE_NS) {
            final long slice = Math.min(SLICE_NS, durationNs - done);
            progress.slice("Java", done, durationNs);
            java = plus(java, slice(slice));
            if (inC.isPresent()) {
                progress.slice("C", done, durationNs);
                c = plus(c, inC.get().run(slice));
            }
        }
        return new JitterResult(durationNs, clockNs, floorNs, java, c);
    }

    /**
     * Runs the loop in Java for a second, which lets the compiler finish.
     *
     * @throws InterruptedException       if the thread is interrupted
     * @throws io.ringpoll.os.OsException if a thread could not be pinned
     */
    public void warmUp() throws InterruptedException {
        slice(WARM_UP_NS);
    }

    /**
     * Runs the loop in Java only.
     *
     * @param lengthNs running time in nanoseconds
     * @return its results, by CPU
     * @throws InterruptedException       if the thread is interrupted
     * @throws io.ringpoll.os.OsException if a thread could not be pinned
     * @throws IllegalStateException      if a thread did not stay on its CPU
     */
    public List<CpuJitter> slice(final long lengthNs) throws InterruptedException {
        return new JavaJitter(cpus, floorNs).run(lengthNs);
    }

    /**
     * The shortest counted gap.
     *
     * @return nanoseconds
     */
    public long floorNs() {
        return floorNs;
    }

    private static List<CpuJitter> plus(final List<CpuJitter> sum, final List<CpuJitter> more) {
        if (sum.isEmpty()) {
            return more;
        }
        final List<CpuJitter> result = new ArrayList<>();
        for (int i = 0; i < sum.size(); i++) {
            result.add(sum.get(i).plus(more.get(i)));
        }
        return result;
    }
}
