package io.ringpoll.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.cli.options.ChildCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * Commands in JVMs of their own, each with a log, which a test may kill and stop at random. {@link #close} ends all of them. Used
 * by one thread.
 */
public final class ChildProcesses implements AutoCloseable {
    private static final int BOUND_SECONDS = 180;
    private static final List<String> SMALL = List.of("-Xmx256m", "-XX:+UseSerialGC");
    private static final String SEED = "ringpoll.kill.seed";

    private final Path folder;
    private final List<Process> started = new ArrayList<>();
    private final long seed = Long.getLong(SEED, System.nanoTime());
    private final Random random = new Random(seed);

    /**
     * Logs the seed of the test's random moments and numbers.
     *
     * @param folder for the logs
     */
    public ChildProcesses(final Path folder) {
        this.folder = folder;
        System.getLogger(ChildProcesses.class.getName()).log(System.Logger.Level.INFO, "-D" + SEED + "=" + seed);
    }

    /** Starts a command; its output is {@code log(name)}. */
    public Process start(final String name, final List<String> words) throws IOException {
        final List<String> command = ChildCommand.of(SMALL, Ringpoll.class, words.toArray(String[]::new));
        final Process process = new ProcessBuilder(command).redirectErrorStream(true)
            .redirectOutput(folder.resolve(name).toFile()).start();
        started.add(process);
        return process;
    }

    /** A random number below a bound. */
    public int draw(final int bound) {
        return random.nextInt(bound);
    }

    /** Kills a process at a random moment of the next so many milliseconds; it can do nothing about it. */
    public void killWithin(final Process process, final int milliseconds) throws InterruptedException {
        Thread.sleep(draw(milliseconds));
        process.destroyForcibly().waitFor();
    }

    /** Sends a signal, such as STOP. */
    public static void signal(final Process process, final String signal) throws IOException, InterruptedException {
        assertEquals(0, new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor());
    }

    /** Waits until a line of a log begins with this; the first match. */
    public MatchResult awaitLine(final String name, final String line) throws IOException, InterruptedException {
        return awaitLine(name, line, 0);
    }

    /** The same in the log behind so many characters. */
    public MatchResult awaitLine(final String name, final String line, final int from) throws IOException, InterruptedException {
        final Pattern pattern = Pattern.compile("(?m)^" + line);
        final long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
        for (;;) {
            final String log = log(name).substring(from);
            final var found = pattern.matcher(log).results().findFirst();
            if (found.isPresent()) {
                return found.get();
            }
            assertTrue(System.nanoTime() < deadline, "no line '" + line + "' of the " + name + ":\n" + log);
            Thread.sleep(20);
        }
    }

    /** Waits for the end of a process that is not stopped, and checks that it has succeeded. */
    public void assertEnds(final Process process, final String name) throws IOException, InterruptedException {
        assertEnds(process, name, 0);
    }

    /** Waits for the end of a process that is not stopped, and checks its exit code. */
    public void assertEnds(final Process process, final String name, final int exitCode)
        throws IOException, InterruptedException {
        assertTrue(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS), "the " + name + " does not end:\n" + log(name));
        assertEquals(exitCode, process.exitValue(), log(name));
    }

    public String log(final String name) throws IOException {
        return Files.readString(folder.resolve(name));
    }

    @Override
    public void close() throws InterruptedException {
        for (final Process process : started) {
            process.destroyForcibly().waitFor();
        }
    }
}
