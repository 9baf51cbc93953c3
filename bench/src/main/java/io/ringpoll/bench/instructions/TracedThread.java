package io.ringpoll.bench.instructions;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A stopped thread of this process, which a second process ({@code steps.c}) executes instruction by instruction. Used by one
 * thread, which must not wait for the traced one.
 */
final class TracedThread implements AutoCloseable {
    /** A command was late: the JVM stopped all threads together, and waited for the stopped one. */
    static final class LateException extends IOException {
        private static final long serialVersionUID = 1;

        private LateException(final String message) {
            super(message);
        }
    }

    /** A step takes some microseconds, on a loaded machine a thousand times as long. */
    private static final int LIMIT_S = 90;
    /** If the thread is blocked, a step does not end. */
    private static final long END_S = LIMIT_S + 30L;

    /** Exit codes of the program. */
    private static final int REFUSED = 1;
    private static final int TOO_LATE = 3;

    private final Process process;
    private final BufferedReader in;
    private final Thread killer;
    private volatile boolean blocked;

    private TracedThread(final Process process) {
        this.process = process;
        in = process.inputReader();
        // A bound for each read: the output of the program ends with it.
        killer = Thread.ofVirtual().start(this::endLate);
    }

    /**
     * Stops a thread.
     *
     * @param program {@code ringpoll-steps}
     * @param tid     number of the thread
     * @throws IOException if the system refuses it; the message has the reason
     */
    static TracedThread stop(final Path program, final int tid) throws IOException, InterruptedException {
        final TracedThread traced = new TracedThread(
            new ProcessBuilder(program.toString(), Integer.toString(tid), Integer.toString(LIMIT_S)).start());
        try {
            traced.read();
            return traced;
        } catch (final IOException | InterruptedException | RuntimeException failed) {
            traced.close();
            throw failed;
        }
    }

    /**
     * Executes instructions, and further ones until the thread reaches an address.
     *
     * @param count   number of instructions
     * @param address the address; 0 for none
     * @return the executed instructions
     * @throws IOException if these are fewer than {@code count}, or tracing has failed
     */
    long step(final long count, final long address) throws IOException, InterruptedException {
        final long steps = number(answer("step " + count + " " + Long.toHexString(address)), "done ");
        if (steps < count) {
            throw new IOException("only " + steps + " of " + count + " instructions were executed: the thread has ended, or " +
                LIMIT_S + " s have elapsed");
        }
        return steps;
    }

    /** Forgets the instructions executed so far. */
    void clear() throws IOException, InterruptedException {
        answer("clear");
    }

    /**
     * Resumes the thread.
     *
     * @return the arrivals at each address
     */
    Map<Long, Long> end() throws IOException, InterruptedException {
        send("end");
        final Map<Long, Long> byAddress = new HashMap<>();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            final String[] words = line.split(" ");
            byAddress.put(Long.parseUnsignedLong(words[1], 16), Long.parseLong(words[2]));
        }
        if (process.waitFor() != 0) {
            throw failure();
        }
        return byAddress;
    }

    /** Resumes the thread. */
    @Override
    public void close() {
        process.destroyForcibly();
        killer.interrupt();
    }

    private String answer(final String command) throws IOException, InterruptedException {
        send(command);
        return read();
    }

    private void send(final String command) {
        try {
            // Not closed: the close of a stream to a program that has ended fails.
            process.getOutputStream().write((command + "\n").getBytes());
            process.getOutputStream().flush();
        } catch (final IOException ended) {
            // The next read reports the reason.
        }
    }

    private String read() throws IOException, InterruptedException {
        final String line = in.readLine();
        if (line == null) {
            throw failure();
        }
        return line;
    }

    private static long number(final String line, final String prefix) throws IOException {
        if (!line.startsWith(prefix)) {
            throw new IOException("'" + line + "' does not start with '" + prefix + "'");
        }
        return Long.parseLong(line.substring(prefix.length()));
    }

    /** The output of the program has ended. */
    private IOException failure() throws IOException, InterruptedException {
        final int exit = process.waitFor();
        final String reason;
        try (BufferedReader errors = process.errorReader()) {
            reason = errors.readLine();
        }
        final String message = reason == null ? Stepper.PROGRAM + " ended with exit code " + exit : reason;
        return switch (exit) {
            case TOO_LATE -> new LateException(message);
            case REFUSED -> new IOException(
                message + "; counting needs a system that allows ptrace, in a container the capability SYS_PTRACE");
            default -> new IOException(blocked ? "the traced thread was blocked for " + END_S + " s" : message);
        };
    }

    private void endLate() {
        try {
            if (!process.waitFor(END_S, TimeUnit.SECONDS)) {
                blocked = true;
                process.destroyForcibly();
            }
        } catch (final InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }
}
