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
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
            final Process steps = new ProcessBuilder(program().toString(), Long.toString(process.pid()), "1", "1").start();
            steps.outputWriter().close();
            assumeTrue(steps.waitFor(10, TimeUnit.SECONDS) && steps.exitValue() != 1, "the system does not allow ptrace");
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
            long executed = 0;
            for (int i = 0; i < 3; i++) {
                // Before that the JVM links and compiles the loop, which takes more instructions than are counted here.
                awaitProgress(progress, 20_000_000);
                // Somewhere within the steps.
                final Thread collector = Thread.ofPlatform().start(() -> {
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
                    System.gc();
                });
                final Steps steps = Stepper.find().trace("stepped", 20_000, progress::get);
                assertTrue(steps.progress() < steps.total(), steps.progress() + " of " + steps.total());
                executed += steps.progress();
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

    private static void awaitProgress(final AtomicLong progress, final long count) {
        final long before = progress.get();
        while (progress.get() < before + count) {
            Thread.onSpinWait();
        }
    }

    @Test
    void shouldNameAThreadThatThereIsNot() {
        final IOException error = assertThrows(IOException.class, () -> Stepper.find().trace("nobody", 1, () -> 0));
        assertEquals("no thread of this process is called nobody", error.getMessage());
    }

    @Test
    void shouldRefuseWrongArgumentsInOneLine() throws IOException, InterruptedException {
        for (final String[] arguments : new String[][] {{}, {"1", "2"}, {"x", "1", "1"}, {"1", "0", "1"}, {"1", "1", "-1"}}) {
            final ProcessBuilder builder = new ProcessBuilder(program().toString());
            for (final String argument : arguments) {
                builder.command().add(argument);
            }
            final Process process = builder.start();
            assertTrue(process.waitFor(10, TimeUnit.SECONDS));
            assertEquals(2, process.exitValue());
            assertEquals("usage: ringpoll-steps TID COUNT SECONDS", process.errorReader().readLine());
        }
    }
}
