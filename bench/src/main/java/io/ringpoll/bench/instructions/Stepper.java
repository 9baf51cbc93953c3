package io.ringpoll.bench.instructions;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.bench.measure.BundledProgram;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.io.BufferedReader;
import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Executes a thread of this process instruction by instruction, by a second process ({@code steps.c}), and counts them. The
 * counts do not depend on the load of the machine. Used by one thread, which is not the traced one.
 */
final class Stepper {
    private static final String PROGRAM = "ringpoll-steps";
    /** An instruction takes some microseconds, on a loaded machine more. */
    private static final int LIMIT_S = 60;
    private static final long END_S = LIMIT_S + 30L;
    private static final long THREAD_NS = TimeUnit.SECONDS.toNanos(10);
    private static final int ATTEMPTS = 10;
    /** Exit code of the program. */
    private static final int TOO_LATE = 3;
    private static final Path THREADS = Path.of("/proc/self/task");

    /** Of {@code sys/prctl.h}. */
    private static final int PR_SET_PTRACER = 0x59616d61;
    private static final long ANY_PROCESS = -1;
    private static final long NO_PROCESS = 0;

    private final Path program;

    private Stepper(final Path program) {
        this.program = program;
    }

    static Stepper find() throws IOException {
        return new Stepper(BundledProgram.find(PROGRAM)
            .orElseThrow(() -> new IOException(
                PROGRAM + " was not built for this architecture: make -C bench/src/main/c/programs")));
    }

    /**
     * Traces a thread.
     *
     * @param thread   its name
     * @param count    number of instructions
     * @param progress how far the thread has got; called while it is stopped, so it may not wait
     * @throws IOException if the system does not allow it; the message has the reason
     */
    Steps trace(final String thread, final int count, final LongSupplier progress) throws IOException, InterruptedException {
        final int tid = await(thread);
        allow(ANY_PROCESS);
        try {
            for (int attempt = 1; attempt <= ATTEMPTS; attempt++) {
                final Optional<Steps> steps = attempt(tid, count, progress);
                if (steps.isPresent()) {
                    return steps.get();
                }
            }
            throw new IOException(
                thread + " could not be traced: the JVM stopped its threads at each of " + ATTEMPTS + " attempts");
        } finally {
            allow(NO_PROCESS);
        }
    }

    /** Empty if the JVM wanted to stop all threads while the traced one was stopped. */
    private Optional<Steps> attempt(final int tid, final int count, final LongSupplier progress)
        throws IOException, InterruptedException {
        final Process process = new ProcessBuilder(program.toString(), Integer.toString(tid), Integer.toString(count),
            Integer.toString(LIMIT_S)).start();
        // A bound for all that follows: when the program ends, so does its output.
        final Thread killer = Thread.ofVirtual().start(() -> endLate(process));
        try (BufferedReader in = process.inputReader()) {
            final String stopped = in.readLine();
            final long before = progress.getAsLong();
            answer(process);
            final String done = in.readLine();
            final long after = progress.getAsLong();
            answer(process);
            final Map<Long, Long> byAddress = new HashMap<>();
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                final String[] words = line.split(" ");
                byAddress.put(Long.parseUnsignedLong(words[1], 16), Long.parseLong(words[2]));
            }
            // Ended before it has let the thread go, it would leave a trap behind that ends this process.
            final int exit = process.waitFor();
            if (exit == TOO_LATE) {
                return Optional.empty();
            }
            if (exit != 0 || stopped == null || done == null) {
                throw failed(process);
            }
            return Optional.of(new Steps(Long.parseLong(done.substring("done ".length())), byAddress, after - before));
        } finally {
            process.destroyForcibly();
            killer.interrupt();
        }
    }

    private static void endLate(final Process process) {
        try {
            if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (final InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static void answer(final Process process) {
        try {
            // Not closed: a program that has ended leaves a stream that cannot be.
            process.getOutputStream().write('\n');
            process.getOutputStream().flush();
        } catch (final IOException ended) {
            // Its exit code says why.
        }
    }

    private static IOException failed(final Process process) throws IOException {
        try (BufferedReader errors = process.errorReader()) {
            final String reason = errors.readLine();
            return new IOException((reason == null ? PROGRAM + " has ended early" : reason) +
                "; tracing needs a system that allows ptrace, in a container the capability SYS_PTRACE");
        }
    }

    /** Where a security module allows only ancestors to trace a process (Yama), this process allows others, too. */
    private static void allow(final long tracers) {
        final MethodHandle prctl = NativeLibrary.c().plain("prctl",
            FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
        try {
            // Without Yama it fails, and is not needed.
            final int ignored = (int) prctl.invokeExact(PR_SET_PTRACER, tracers, 0L, 0L, 0L);
        } catch (final Throwable thrown) {
            throw NativeLibrary.unexpected(thrown);
        }
    }

    /** The number of the thread of a name, which may still be about to start. */
    private static int await(final String name) throws IOException, InterruptedException {
        final long deadlineNs = System.nanoTime() + THREAD_NS;
        while (true) {
            try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
                for (final Path thread : threads) {
                    if (nameOf(thread).equals(name)) {
                        return Integer.parseInt(thread.getFileName().toString());
                    }
                }
            }
            if (System.nanoTime() - deadlineNs > 0) {
                throw new IOException("no thread of this process is called " + name);
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
