package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.verbs.WorkCompletion;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
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

@Timeout(60)
class ShutdownTest {
    private static final int COUNT = 2000;

    @Test
    void shouldDrainWhenTheJvmIsTerminated(@TempDir final Path folder) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> argument.startsWith("--add-opens") || argument.startsWith("--enable-native")).toList());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Draining.class.getName(), folder.toString()));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        final List<String> lines = new ArrayList<>();
        try (BufferedReader reader = process.inputReader()) {
            String line = reader.readLine();
            while (line != null) {
                lines.add(line);
                if (line.equals("running")) {
                    process.toHandle().destroy();
                }
                line = reader.readLine();
            }
        }
        assertTrue(process.waitFor(30, TimeUnit.SECONDS));
        assertEquals("handled " + COUNT, lines.getLast(), lines.toString());
        try (var left = Files.list(folder)) {
            assertEquals(List.of(), left.toList(), "the counters file is removed");
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
                .shutdownTimeout(TimeUnit.SECONDS.toNanos(20))
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
