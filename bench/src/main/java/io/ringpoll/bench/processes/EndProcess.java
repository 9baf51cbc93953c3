package io.ringpoll.bench.processes;

import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One of the two processes, for the one that controls them. It ends with this process in any case: at the latest when its input
 * ends. Used by one thread.
 */
final class EndProcess implements AutoCloseable {
    /** More than any command takes, also on a busy machine. */
    private static final long ANSWER_LIMIT_S = 120;
    private static final long END_S = 30;

    private final String name;
    private final Process process;
    private final PrintWriter commands;
    private final BufferedReader answers;

    private EndProcess(final String name, final Process process) {
        this.name = name;
        this.process = process;
        commands = new PrintWriter(process.outputWriter(), true);
        answers = process.inputReader();
    }

    /** Starts a process; its messages go to the standard error of this one. */
    static EndProcess start(final EndSettings settings, final ChildProcesses children) throws IOException {
        final List<String> words = new ArrayList<>(List.of(EndMain.class.getName()));
        words.addAll(List.of(settings.arguments()));
        final ProcessBuilder builder = new ProcessBuilder(JavaCommand.of(words)).redirectError(Redirect.INHERIT);
        builder.environment().put(EndSettings.FOLDER_VARIABLE, settings.folder().toString());
        return new EndProcess(settings.name(), children.start(builder));
    }

    /** Sends a command. */
    void send(final String command) {
        commands.println(command);
    }

    /**
     * Waits for the answer to the oldest command without one.
     *
     * @return its words after the first one
     * @throws IllegalStateException if the command failed, the process has ended, or there is no answer in time
     */
    List<String> answer() throws InterruptedException {
        final String line = line();
        final List<String> words = List.of(line.split(" "));
        if (words.getFirst().equals(EndMain.FAILED)) {
            throw new IllegalStateException("the " + name + " " + line);
        }
        return words.subList(1, words.size());
    }

    private String line() throws InterruptedException {
        try {
            final String line = CompletableFuture.supplyAsync(this::readLine).get(ANSWER_LIMIT_S, TimeUnit.SECONDS);
            if (line == null) {
                throw new IllegalStateException("the process of the " + name + " has ended");
            }
            return line;
        } catch (final TimeoutException late) {
            throw new IllegalStateException("no answer of the " + name + " within " + ANSWER_LIMIT_S + " s", late);
        } catch (final ExecutionException failed) {
            throw new IllegalStateException("the answers of the " + name + " cannot be read", failed.getCause());
        }
    }

    /** The next answer; null if the process has ended. */
    private String readLine() {
        try {
            return answers.readLine();
        } catch (final IOException ended) {
            // The pipe of an ended process is closed.
            return null;
        }
    }

    /** The exit code of the process, which has ended. */
    int exitCode() {
        return process.exitValue();
    }

    /** Kills the process, if it has not ended. */
    void kill() {
        process.destroyForcibly();
    }

    /** Ends the process: it closes its connections, or is killed. */
    @Override
    public void close() {
        commands.close();
        boolean interrupted = false;
        try {
            process.waitFor(END_S, TimeUnit.SECONDS);
        } catch (final InterruptedException e) {
            interrupted = true;
        }
        kill();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
