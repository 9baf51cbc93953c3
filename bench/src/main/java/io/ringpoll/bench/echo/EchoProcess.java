package io.ringpoll.bench.echo;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.ringpoll.bench.measure.ChildProcesses;
import io.ringpoll.bench.measure.JavaCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.ProcessBuilder.Redirect;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The JVM of a contestant ({@link EchoMain}), for the one that controls the measurement. Used by one thread. */
final class EchoProcess implements AutoCloseable {
    /** More than any command takes, also on a busy machine. */
    private static final long ANSWER_LIMIT_S = 120;

    /** The same heap for all, with its pages in place: they are not assigned during the turns, in another order in each JVM. */
    private static final List<String> HEAP = List.of("-Xms256m", "-Xmx256m", "-XX:+AlwaysPreTouch");

    private final EchoConfig config;
    private final String name;
    private final Process process;
    private final PrintWriter commands;
    private final BufferedReader answers;

    private EchoProcess(final EchoConfig config, final String name, final Process process) {
        this.config = config;
        this.name = name;
        this.process = process;
        commands = new PrintWriter(process.outputWriter(), true);
        answers = process.inputReader();
    }

    /** Starts a JVM, which waits for {@link #open()}; its messages go to the standard error of this one. */
    static EchoProcess start(final EchoConfig config, final EchoScale scale, final EchoSubject subject,
        final ChildProcesses children) throws IOException {
        final List<String> words = List.of(EchoMain.class.getName(), subject.name(), Integer.toString(scale.connections()),
            Integer.toString(scale.window()), Integer.toString(scale.inFlight()));
        return new EchoProcess(config, subject.label() + " with " + scale,
            children.start(new ProcessBuilder(JavaCommand.of(HEAP, words)).redirectError(Redirect.INHERIT)));
    }

    /**
     * Opens the connections.
     *
     * @throws IllegalStateException if that fails, the JVM has ended, or there is no answer in time
     */
    void open() throws InterruptedException {
        answer(EchoMain.OPEN);
    }

    /**
     * Takes a turn.
     *
     * @throws IllegalStateException as {@link #open()}
     */
    EchoWindow take(final int round, final EchoMode mode) throws InterruptedException {
        final String line = answer(EchoMain.command(round, mode, config));
        try {
            return EchoWindow.of(new ObjectMapper().readTree(line), config);
        } catch (final JsonProcessingException unexpected) {
            throw new IllegalStateException("the JVM of " + name + " answered " + line, unexpected);
        }
    }

    private String answer(final String command) throws InterruptedException {
        commands.println(command);
        try {
            final String line = CompletableFuture.supplyAsync(this::readLine).get(ANSWER_LIMIT_S, TimeUnit.SECONDS);
            if (line == null) {
                process.waitFor(ANSWER_LIMIT_S, TimeUnit.SECONDS);
                throw new IllegalStateException("the JVM of " + name + " has ended" +
                    (process.isAlive() ? "" : " with exit code " + process.exitValue()));
            }
            if (line.startsWith(EchoMain.FAILED)) {
                throw new IllegalStateException("the JVM of " + name + " " + line);
            }
            return line;
        } catch (final TimeoutException late) {
            throw new IllegalStateException("no answer of the JVM of " + name + " within " + ANSWER_LIMIT_S + " s", late);
        } catch (final ExecutionException failed) {
            throw new IllegalStateException("the answers of the JVM of " + name + " cannot be read", failed.getCause());
        }
    }

    /** The next answer; null if the JVM has ended. */
    private String readLine() {
        try {
            return answers.readLine();
        } catch (final IOException ended) {
            // The pipe of an ended process is closed.
            return null;
        }
    }

    /** Whether the JVM runs. */
    boolean isAlive() {
        return process.isAlive();
    }

    /** Kills the JVM. */
    void kill() {
        process.destroyForcibly();
    }

    /** Lets the JVM close its connections and end, without waiting for that. */
    void end() {
        commands.close();
    }

    /** Ends the JVM: it closes its connections, or is killed after a time. */
    @Override
    public void close() {
        end();
        boolean interrupted = false;
        try {
            process.waitFor(ANSWER_LIMIT_S, TimeUnit.SECONDS);
        } catch (final InterruptedException e) {
            interrupted = true;
        }
        kill();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
