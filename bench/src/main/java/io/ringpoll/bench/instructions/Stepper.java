package io.ringpoll.bench.instructions;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.bench.baseline.StepTraps;
import io.ringpoll.bench.measure.BundledProgram;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Counts the instructions of threads of this process. The counts do not depend on the load of the machine. Used by one thread,
 * which is not a traced one.
 */
final class Stepper {
    static final String PROGRAM = "ringpoll-steps";
    private static final long THREAD_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int ATTEMPTS = 10;
    /** Instructions from one look at the progress to the next. */
    private static final int CHUNK = 128;
    private static final int MOST_BETWEEN_CHANGES = 1_000_000;
    private static final Path THREADS = Path.of("/proc/self/task");

    /** Of {@code sys/prctl.h}. */
    private static final int PR_SET_PTRACER = 0x59616d61;
    private static final long ANY_PROCESS = -1;
    private static final long NO_PROCESS = 0;

    /** Length of the names of threads in Linux. */
    private static final int MAX_NAME = 15;

    private final Path program;
    private final long threadNs;

    /**
     * Creates a counter of instructions.
     *
     * @param program executable built of {@code steps.c}
     */
    Stepper(final Path program) {
        this(program, THREAD_NS);
    }

    /** With its own limit for the time until a thread has its name. */
    Stepper(final Path program, final long threadNs) {
        this.program = program;
        this.threadNs = threadNs;
    }

    static Stepper find() throws IOException {
        return new Stepper(BundledProgram.find(PROGRAM)
            .orElseThrow(() -> new IOException(
                PROGRAM + " was not built for this architecture: make -C bench/src/main/c/programs")));
    }

    /** Executes a stopped thread. */
    @FunctionalInterface
    private interface Measurement {
        Steps measure(TracedThread traced) throws IOException, InterruptedException;
    }

    /**
     * Traces a thread from one arrival at an address to a later one.
     *
     * @param thread  its name
     * @param count   fewest instructions
     * @param address an address which the thread reaches again and again
     * @return without units
     * @throws IOException if the system does not allow it; the message has the reason
     */
    Steps trace(final String thread, final int count, final long address) throws IOException, InterruptedException {
        return trace(thread, traced -> {
            traced.step(0, address);
            traced.clear();
            final long total = traced.step(count, address);
            return new Steps(total, traced.end(), 0);
        });
    }

    /**
     * Traces a thread from one change of its progress to a later one, as a thread may publish many units of work at once.
     *
     * @param thread   its name
     * @param count    fewest instructions
     * @param progress progress of the thread; called while it is stopped, so it must not wait
     * @return with the progress as its units
     * @throws IOException if the system does not allow it; the message has the reason
     */
    Steps trace(final String thread, final int count, final LongSupplier progress) throws IOException, InterruptedException {
        return trace(thread, traced -> {
            stepUntilChange(traced, progress);
            traced.clear();
            final long before = progress.getAsLong();
            final long total = traced.step(count, 0) + stepUntilChange(traced, progress);
            final long units = progress.getAsLong() - before;
            return new Steps(total, traced.end(), units);
        });
    }

    private static long stepUntilChange(final TracedThread traced, final LongSupplier progress)
        throws IOException, InterruptedException {
        final long before = progress.getAsLong();
        long steps = 0;
        while (progress.getAsLong() == before && steps < MOST_BETWEEN_CHANGES) {
            steps += traced.step(CHUNK, 0);
        }
        return steps;
    }

    private Steps trace(final String thread, final Measurement measurement) throws IOException, InterruptedException {
        final int tid = await(thread);
        StepTraps.survive();
        allow(ANY_PROCESS);
        try {
            IOException late = null;
            for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
                try (TracedThread traced = TracedThread.stop(program, tid)) {
                    return measurement.measure(traced);
                } catch (final TracedThread.LateException e) {
                    late = e;
                }
            }
            throw new IOException(thread + " could not be traced in " + ATTEMPTS + " attempts: " + late.getMessage(), late);
        } finally {
            allow(NO_PROCESS);
        }
    }

    /** Permits others than ancestors to trace this process, where a security module (Yama) refuses that. */
    private static void allow(final long tracers) {
        final MethodHandle prctl = NativeLibrary.c().plain("prctl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        try {
            // It fails without Yama, where no permission is needed.
            final int ignored = (int) prctl.invokeExact(PR_SET_PTRACER, tracers, 0L, 0L, 0L);
        } catch (final Throwable thrown) {
            throw NativeLibrary.unexpected(thrown);
        }
    }

    /** The number of the thread with a name; waits until it has started. */
    private int await(final String name) throws IOException, InterruptedException {
        final long deadlineNs = System.nanoTime() + threadNs;
        final String shortName = name.substring(0, Math.min(name.length(), MAX_NAME));
        while (true) {
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
                for (final Path thread : threads) {
                    if (nameOf(thread).equals(shortName)) {
                        return Integer.parseInt(thread.getFileName().toString());
                    }
                }
            }
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IOException("this process has no thread named " + name);
            }
            Thread.sleep(1);
        }
    }

    private static String nameOf(final Path thread) throws IOException {
        try {
            return Files.readString(thread.resolve("comm")).strip();
        } catch (final NoSuchFileException ended) {
            return "";
        }
    }
}
