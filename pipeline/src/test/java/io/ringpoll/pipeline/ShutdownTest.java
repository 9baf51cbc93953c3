package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.JavaProcess;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(60)
class ShutdownTest {
    private static final int COUNT = 2000;

    @Test
    void shouldDrainWhenTheJvmIsTerminatedIfAsked(@TempDir final Path folder) throws IOException, InterruptedException {
        final List<String> lines = signalled("TERM", 143, Draining.class, folder.toString());
        assertEquals("handled " + COUNT, lines.getLast(), lines.toString());
        try (var left = Files.list(folder)) {
            assertEquals(List.of(), left.toList(), "the counters file is removed");
        }
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void shouldLeaveThePipelineToTheShutdownHookOfTheProgram(final String signal, final int exit)
        throws IOException, InterruptedException {
        assertEquals(List.of("running", "polls", "handled 100, in time true",
            "late cannot be added: pipeline ringpoll was closed by JVM shutdown",
            "no pipeline of the group is polling: all have halted or been closed by JVM shutdown"),
            signalled(signal, exit, OwnHook.class));
    }

    @ParameterizedTest
    @CsvSource({"INT, 130", "TERM, 143"})
    void shouldShareTheCloseWithTheShutdownHookOfTheProgramIfBothClose(final String signal, final int exit)
        throws IOException, InterruptedException {
        final List<String> lines = signalled(signal, exit, OwnHook.class, Long.toString(TimeUnit.SECONDS.toNanos(20)));
        assertEquals("running", lines.getFirst());
        assertTrue(lines.get(2).endsWith(", in time true"), lines::toString);
        assertEquals("late cannot be added: pipeline ringpoll was closed by JVM shutdown", lines.get(3), lines::toString);
    }

    /** The output of a program that gets a signal when it prints that it is running. */
    private static List<String> signalled(final String signal, final int exit, final Class<?> program, final String... arguments)
        throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        // If the parent ignores a signal, the JVM ignores it, too.
        command.addAll(List.of("env", "--default-signal=" + signal));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(JavaProcess.flags());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.addAll(List.of(arguments));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final List<String> lines = new ArrayList<>();
        try (BufferedReader reader = process.inputReader()) {
            String line = reader.readLine();
            while (line != null) {
                lines.add(line);
                if (line.equals("running")) {
                    assertEquals(0, new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor());
                }
                line = reader.readLine();
            }
            assertTrue(process.waitFor(30, TimeUnit.SECONDS));
            assertEquals(exit, process.exitValue(), lines::toString);
            return lines;
        } finally {
            process.destroyForcibly();
        }
    }

    /** A program that uses its pipeline in a shutdown hook, and closes it there. */
    static final class OwnHook {
        private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(20);
        /** Longer than the close of an idle pipeline by another hook. */
        private static final long WORK_MS = 500;

        private OwnHook() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
            final AtomicLong handled = new AtomicLong();
            final PipelineBuilder builder = Pipeline.builder().withoutCountersFile()
                .onAll((wc, sequence, endOfBatch) -> handled.incrementAndGet());
            if (arguments.length > 0) {
                builder.shutdownTimeoutNs(Long.parseLong(arguments[0]));
            }
            final PipelineGroup group = PipelineGroup.start(1, i -> builder);
            final Pipeline pipeline = group.pipelines().getFirst();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(WORK_MS));
                out.println(attempt(() -> pipeline.addQueue(new SyntheticQueue("last", 100))));
                pipeline.drain(TIMEOUT_NS);
                out.println("handled " + handled + ", in time " + pipeline.close(TIMEOUT_NS).inTime());
                out.println(attempt(() -> pipeline.addQueue(new SyntheticQueue("late", 1))));
                out.println(attempt(() -> group.addQueue(new SyntheticQueue("late", 1))));
            }));
            out.println("running");
            Thread.currentThread().join();
        }

        private static String attempt(final Runnable call) {
            try {
                call.run();
                return "polls";
            } catch (final IllegalStateException refused) {
                return refused.getMessage();
            }
        }
    }

    /** A program that is terminated while its handler is far behind. */
    static final class Draining {
        private Draining() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            final PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), true);
            final AtomicLong handled = new AtomicLong();
            final CompletionHandler slow = new CompletionHandler() {
                @Override
                public void onCompletion(
                    final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
                    LockSupport.parkNanos(100_000);
                    handled.incrementAndGet();
                }

                @Override
                public void onShutdown() {
                    out.println("handled " + handled);
                }
            };
            Pipeline.builder()
                .ringSize(256)
                .countersFolder(Path.of(arguments[0]))
                .shutdownTimeoutNs(TimeUnit.SECONDS.toNanos(20))
                .onAll(slow)
                .queue(new SyntheticQueue("queue", COUNT))
                .start();
            while (handled.get() == 0) {
                Thread.sleep(1);
            }
            out.println("running");
            Thread.currentThread().join();
        }
    }
}
