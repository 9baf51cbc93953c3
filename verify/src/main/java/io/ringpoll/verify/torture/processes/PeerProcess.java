package io.ringpoll.verify.torture.processes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * A running {@link PeerMain} and its output, in the parent process. The peer ends at the latest with its parent.
 *
 * <p>One thread of the parent uses it; a thread of its own reads the output.
 */
final class PeerProcess implements AutoCloseable {
    private final Process process;
    private final Queue<String> lines = new ConcurrentLinkedQueue<>();
    private final Thread reader;

    PeerProcess(final String threadName, final List<String> arguments) {
        final List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-Xmx128m", "-cp", System.getProperty("java.class.path"), PeerMain.class.getName()));
        command.addAll(arguments);
        try {
            process = new ProcessBuilder(command).redirectErrorStream(true).start();
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
        reader = Thread.ofPlatform().daemon().name(threadName).start(this::read);
    }

    private void read() {
        try (BufferedReader output = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                lines.add(line);
            }
        } catch (final IOException ended) {
            // It was killed.
        }
    }

    /** The rest of the first line that begins so; null if there is none so far. */
    String line(final String begin) {
        return lines.stream().filter(line -> line.startsWith(begin)).map(line -> line.substring(begin.length())).findFirst()
            .orElse(null);
    }

    List<String> lines() {
        return List.copyOf(lines);
    }

    /** Sends a command; without effect if the process has ended. */
    void command(final String command) {
        try {
            process.getOutputStream().write((command + '\n').getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (final IOException ended) {
            // Its exit code is checked.
        }
    }

    /** Sends a signal, such as STOP. */
    void signal(final String signal) throws InterruptedException {
        try {
            new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).inheritIO().start().waitFor();
        } catch (final IOException failed) {
            throw new UncheckedIOException(failed);
        }
    }

    void kill() {
        process.destroyForcibly();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Waits for the end; -1 if there is none in time. */
    int awaitEnd(final long timeoutNs) throws InterruptedException {
        if (!process.waitFor(timeoutNs, TimeUnit.NANOSECONDS)) {
            return -1;
        }
        reader.join();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor();
            reader.join();
            process.getOutputStream().close();
        } catch (final InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        } catch (final IOException ended) {
            // The process has ended: unwritten commands have no reader.
        }
    }
}
