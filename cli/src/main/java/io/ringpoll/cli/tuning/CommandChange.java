package io.ringpoll.cli.tuning;

import io.ringpoll.bench.change.Change;
import io.ringpoll.cli.options.Execution;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A change by a command, and its undoing by another. Their output goes to the standard error of this command, and they have its
 * standard input, so that {@code sudo} can ask for a password. Used by one thread.
 */
final class CommandChange implements Change {
    private static final long LIMIT_MIN = 10;
    /** A process that the command leaves in the background may keep its output open. */
    private static final long REST_MS = 500;
    /** A line is printed in parts of this many characters: a command may print without end and without a line feed. */
    private static final int LONGEST_LINE = 2000;

    private final List<String> command;
    private final List<String> undo;
    private final long settleMs;
    private final PrintWriter output;
    /** Null unless the command has failed. */
    private String failure;

    /** No undoing if its words are empty; waits for a time after each command. */
    CommandChange(final List<String> command, final List<String> undo, final long settleMs, final PrintWriter output) {
        this.command = command;
        this.undo = undo;
        this.settleMs = settleMs;
        this.output = output;
    }

    /** Whether a command has a program: a file, or a name that is found on PATH. */
    static boolean hasProgram(final List<String> command) {
        final String program = command.isEmpty() ? "" : command.getFirst();
        if (program.isBlank()) {
            return false;
        }
        try {
            if (program.contains("/")) {
                return isProgram(Path.of(program));
            }
            for (final String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
                if (isProgram(Path.of(folder, program))) {
                    return true;
                }
            }
            return false;
        } catch (final InvalidPathException noName) {
            return false;
        }
    }

    private static boolean isProgram(final Path file) {
        return Files.isRegularFile(file) && Files.isExecutable(file);
    }

    @Override
    public void apply() throws IOException, InterruptedException {
        try {
            run(command);
        } catch (final IOException failed) {
            failure = failed.getMessage();
            // It is undone before this is reported; a failure of that is reported instead.
            throw new IOException(failure + "; any changes it made " + (undo.isEmpty() ? "remain" : "are undone"), failed);
        }
    }

    @Override
    public boolean canBeUndone() {
        return !undo.isEmpty();
    }

    @Override
    public void undo() throws IOException, InterruptedException {
        try {
            run(undo);
        } catch (final IOException failed) {
            throw new IOException(failure == null ? failed.getMessage() + "; the change is not undone" :
                failure + ", and " + failed.getMessage() + "; any changes it made remain", failed);
        }
    }

    private void run(final List<String> words) throws IOException, InterruptedException {
        final String text = String.join(" ", words);
        output.println("$ " + Execution.oneLine(text));
        output.flush();
        final Process process = new ProcessBuilder(words).redirectErrorStream(true).redirectInput(Redirect.INHERIT).start();
        try {
            final Thread reader = Thread.ofVirtual().start(() -> copyOutput(process));
            if (!process.waitFor(LIMIT_MIN, TimeUnit.MINUTES)) {
                throw new IOException("'" + text + "' did not end within " + LIMIT_MIN + " minutes");
            }
            reader.join(REST_MS);
        } finally {
            process.destroy();
        }
        if (process.exitValue() != 0) {
            throw new IOException("'" + text + "' ended with " + process.exitValue());
        }
        TimeUnit.MILLISECONDS.sleep(settleMs);
    }

    private void copyOutput(final Process process) {
        final StringBuilder line = new StringBuilder();
        try (BufferedReader printed = new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            boolean ended = false;
            while (!ended) {
                final int next = printed.read();
                ended = next < 0;
                if (next == '\n' || next == '\r' || line.length() == LONGEST_LINE) {
                    print(line);
                }
                if (!ended && next != '\n' && next != '\r') {
                    line.append((char) next);
                }
            }
            print(line);
        } catch (final IOException closed) {
            print(line);
        }
    }

    private void print(final StringBuilder line) {
        if (!line.isEmpty()) {
            output.println("  " + Execution.oneLine(line.toString()));
            output.flush();
            line.setLength(0);
        }
    }
}
