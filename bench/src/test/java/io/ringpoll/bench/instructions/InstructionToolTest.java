package io.ringpoll.bench.instructions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.BundledProgram;
import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
class InstructionToolTest {
    /** A poll of an empty queue, in any compiled form. */
    private static final double FEWEST = 20;
    private static final double MOST = 5_000;

    @BeforeAll
    static void traceable() throws IOException, InterruptedException {
        Device.choose(DeviceKind.LOOPBACK);
        final Process process = new ProcessBuilder("sh", "-c", "kill -STOP $$").start();
        try {
            final Process steps = new ProcessBuilder(program().toString(), Long.toString(process.pid()), "1").start();
            steps.outputWriter().close();
            assumeTrue(steps.waitFor(60, TimeUnit.SECONDS) && steps.exitValue() != 1, "the system does not allow ptrace");
        } finally {
            process.destroyForcibly();
        }
    }

    private static Path program() throws IOException {
        return BundledProgram.find("ringpoll-steps").orElseThrow();
    }

    @Test
    void shouldCountTheInstructionsOfACallByPlace() throws IOException, InterruptedException {
        final InstructionCount ours = InstructionTool.count(InstructionPoint.EMPTY_POLL, RingpollHandOff.NAME, true);
        final InstructionCount theirs = InstructionTool.count(InstructionPoint.EMPTY_POLL, CHandOff.NAME, true);
        assertTrue(ours.all() > FEWEST && ours.all() < MOST, ours::toString);
        assertTrue(theirs.all() > FEWEST && theirs.all() < ours.all(), () -> theirs + " beside " + ours);
        assertEquals(ours.all(), ours.places().values().stream().mapToDouble(Double::doubleValue).sum(), 1e-6);
        assertEquals(theirs.in(Place.LIBRPMA), ours.in(Place.LIBRPMA), 0.1 * theirs.in(Place.LIBRPMA));
        assertTrue(ours.in(Place.DEVICE) > 0, ours::toString);
        assertTrue(theirs.in(Place.BASELINE) > 0, theirs::toString);
        assertEquals(0, ours.in(Place.BASELINE), ours::toString);
        assertEquals(0, theirs.in(Place.JAVA), theirs::toString);
    }

    @Test
    void shouldCountTheInstructionsOfAPollerAndAHandler() throws IOException, InterruptedException {
        for (final InstructionPoint point : new InstructionPoint[] {
            InstructionPoint.POLLER, InstructionPoint.EMPTY_ROUND, InstructionPoint.ERROR_HANDLER}) {
            final InstructionCount theirs = InstructionTool.count(point, CHandOff.NAME, true);
            assertTrue(theirs.in(Place.BASELINE) > 1, () -> point + ": " + theirs);
        }
    }

    @Test
    void shouldCountTheInstructionsOfAMessageWithTheLayerOfConnectionsAndByHand() throws IOException, InterruptedException {
        final InstructionPoint point = InstructionPoint.ECHO_20;
        final InstructionCount ours = InstructionTool.count(point, RingpollHandOff.NAME, true);
        final InstructionCount theirs = InstructionTool.count(point, point.baselineName(), true);
        assertEquals("by-hand", point.baselineName());
        for (final InstructionCount count : new InstructionCount[] {ours, theirs}) {
            assertTrue(count.in(Place.JAVA) > FEWEST && count.in(Place.LIBRPMA) > FEWEST && count.in(Place.DEVICE) > FEWEST,
                () -> ours + " beside " + theirs);
        }
    }

    /** A thread whose traces have these units of work, one after the other; the last of them again and again. */
    private record Scripted(AtomicInteger traces, double... units) implements Subject {
        @Override
        public boolean hasRepeated() {
            return true;
        }

        @Override
        public Steps trace(final Stepper stepper, final int count) {
            return new Steps(count, Map.of(), units[Math.min(traces.getAndIncrement(), units.length - 1)]);
        }

        @Override
        public void close() {
            // No thread.
        }
    }

    /** As when the thread links code for the first time, or waits for another one that does not run. */
    @Test
    void shouldTraceAgainAfterATraceWithoutWork() throws IOException, InterruptedException {
        final Scripted subject = new Scripted(new AtomicInteger(), 0, 0, 50);
        final InstructionCount count =
            InstructionTool.countSteady(InstructionPoint.ECHO_20, RingpollHandOff.NAME, subject, Stepper.find(), true);
        assertEquals(100, count.all());
        assertEquals(3, subject.traces().get());
    }

    @Test
    void shouldNameAThreadThatDoesNoWork() {
        final Scripted subject = new Scripted(new AtomicInteger(), 0);
        assertEquals("echo/20-connections/server of ringpoll: the thread did no work in 5000 instructions, the last of 10 traces",
            assertThrows(IOException.class, () -> InstructionTool.countSteady(
                InstructionPoint.ECHO_20, RingpollHandOff.NAME, subject, Stepper.find(), true)).getMessage());
    }

    /** A handler publishes its progress for a batch of 256: a trace between any two instructions is wrong by up to one. */
    @Test
    void shouldCountWholeBatchesOfAHandler() throws IOException, InterruptedException {
        try (Subject handler = InstructionPoint.HANDLER.start(CHandOff.NAME)) {
            while (!handler.hasRepeated()) {
                Thread.sleep(1);
            }
            final Steps few = handler.trace(Stepper.find(), 3_000);
            final Steps many = handler.trace(Stepper.find(), 30_000);
            assertEquals(many.total() / many.units(), few.total() / few.units(), 0.15 * many.total() / many.units());
        }
    }

    @Test
    void shouldDistinguishInterpretedCode() throws IOException, InterruptedException {
        final AtomicBoolean stop = new AtomicBoolean();
        final AtomicLong progress = new AtomicLong();
        final Thread seldom = Thread.ofPlatform().name("interpreted").start(() -> {
            while (!stop.get()) {
                progress.incrementAndGet();
                LockSupport.parkNanos(1);
            }
        });
        try {
            final Steps steps = Stepper.find().trace("interpreted", 5_000, progress::get);
            assertTrue(InstructionCount.of(steps, CodeMap.ofThisProcess()).steadyShare() < 1);
        } finally {
            stop.set(true);
            seldom.join();
        }
    }

    /** The trap flag that the tracing process left in the thread ended this process. */
    @Test
    void shouldSurviveTheEndOfTheTracingProcess() throws IOException, InterruptedException {
        final AtomicBoolean stop = new AtomicBoolean();
        final AtomicLong progress = new AtomicLong();
        final Thread busy = Thread.ofPlatform().name("abandoned").start(() -> {
            while (!stop.get()) {
                progress.incrementAndGet();
            }
        });
        try {
            for (int i = 0; i < 5; i++) {
                awaitProgress(progress, 1_000_000);
                final Thread killer = Thread.ofPlatform().start(InstructionToolTest::killTracingProcess);
                final IOException error =
                    assertThrows(IOException.class, () -> Stepper.find().trace("abandoned", 10_000_000, progress::get));
                assertEquals("ringpoll-steps ended with exit code 137", error.getMessage());
                killer.join();
            }
            awaitProgress(progress, 1_000_000);
        } finally {
            stop.set(true);
            busy.join();
        }
    }

    private static void killTracingProcess() {
        Optional<ProcessHandle> steps = Optional.empty();
        while (steps.isEmpty()) {
            steps = ProcessHandle.current().children()
                .filter(child -> child.info().command().orElse("").endsWith("ringpoll-steps")).findFirst();
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
        steps.get().destroyForcibly();
    }

    @Test
    void shouldNameTheReasonWhenTheSystemForbidsTracing(@TempDir final Path folder) throws IOException {
        final Stepper refused = new Stepper(script(folder, "echo 'ringpoll-steps: cannot trace thread 1: no' >&2; exit 1"));
        assertEquals("ringpoll-steps: cannot trace thread 1: no; counting needs a system that allows ptrace, in a container " +
            "the capability SYS_PTRACE", assertThrows(IOException.class, () -> traceSelf(refused)).getMessage());
    }

    @Test
    void shouldTryAgainWhenACommandWasLate(@TempDir final Path folder) throws IOException {
        final Path attempts = folder.resolve("attempts");
        final Stepper late = new Stepper(script(folder, "echo >>" + attempts + "; echo stopped; echo late >&2; exit 3"));
        final String message = assertThrows(IOException.class, () -> traceSelf(late)).getMessage();
        assertTrue(message.endsWith(" could not be traced in 10 attempts: late"), message);
        assertEquals(10, Files.readAllLines(attempts).size());
    }

    private static void traceSelf(final Stepper stepper) throws IOException, InterruptedException {
        stepper.trace(Files.readString(Path.of("/proc/self/comm")).strip(), 1, () -> 0);
    }

    private static Path script(final Path folder, final String text) throws IOException {
        final Path file = Files.writeString(folder.resolve("ringpoll-steps"), "#!/bin/sh\n" + text + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
        return file;
    }

    /** A thread that was stepped over instructions that save the flags got the trap flag back and ended the process. */
    @Test
    void shouldLeaveAThreadThatStopsAtSafepointsRunning() throws IOException, InterruptedException {
        final AtomicBoolean stop = new AtomicBoolean();
        final AtomicLong progress = new AtomicLong();
        final Thread busy = Thread.ofPlatform().name("stepped").start(() -> {
            while (!stop.get()) {
                progress.incrementAndGet();
            }
        });
        try {
            double executed = 0;
            for (int i = 0; i < 3; i++) {
                // Before that the JVM links and compiles the loop, which takes more instructions than are counted here.
                awaitProgress(progress, 20_000_000);
                // Somewhere within the steps.
                final Thread collector = Thread.ofPlatform().start(() -> {
                    awaitTracer("stepped");
                    System.gc();
                });
                final Steps steps = Stepper.find().trace("stepped", 6_000, progress::get);
                assertTrue(steps.units() < steps.total(), steps.units() + " of " + steps.total());
                executed += steps.units();
                collector.join();
            }
            // Not in each trace: a whole one may pass in the JVM's own code, at a safepoint.
            assertTrue(executed > 0);
            awaitProgress(progress, 1_000_000);
        } finally {
            stop.set(true);
            busy.join();
        }
    }

    /** Waits until a thread has a tracing process, for ten seconds: a step takes a microsecond, or much longer. */
    private static void awaitTracer(final String thread) {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (!isTraced(thread) && System.nanoTime() - endNs < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
        }
    }

    private static boolean isTraced(final String thread) {
        try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
            for (final Path each : threads.toList()) {
                if (thread.equals(Files.readString(each.resolve("comm")).strip())) {
                    return !Files.readString(each.resolve("status")).contains("TracerPid:\t0\n");
                }
            }
        } catch (final IOException | UncheckedIOException error) {
            // A thread has ended meanwhile.
        }
        return false;
    }

    private static void awaitProgress(final AtomicLong progress, final long count) {
        final long before = progress.get();
        while (progress.get() < before + count) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldNameAMissingThread() {
        final IOException error = assertThrows(IOException.class, () -> new Stepper(program(), 1).trace("nobody", 1, () -> 0));
        assertEquals("this process has no thread named nobody", error.getMessage());
    }

    @Test
    void shouldRefuseWrongArgumentsInOneLine() throws IOException, InterruptedException {
        for (final String[] arguments : new String[][] {{}, {"1"}, {"x", "1"}, {"0", "1"}, {"1", "-1"}}) {
            final ProcessBuilder builder = new ProcessBuilder(program().toString());
            for (final String argument : arguments) {
                builder.command().add(argument);
            }
            final Process process = builder.start();
            assertTrue(process.waitFor(60, TimeUnit.SECONDS));
            assertEquals(2, process.exitValue());
            assertEquals("usage: ringpoll-steps TID SECONDS", process.errorReader().readLine());
        }
    }
}
