package io.ringpoll.bench.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Child processes that end with this one. Ctrl-C reaches all of them; another signal, such as that of kill(1), reaches this
 * process only, and a shutdown hook ends the others, also one that is being started at that moment. Thread-safe.
 */
public final class ChildProcesses implements AutoCloseable {
    /** Time for the processes to end at a signal, before they are killed. */
    private static final long END_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private final List<Process> started = new ArrayList<>();
    private final Thread atShutdown;
    private boolean ending;

    /**
     * Without processes yet.
     *
     * @param afterShutdown called at a shutdown when the processes have ended
     */
    public ChildProcesses(final Runnable afterShutdown) {
        atShutdown = new Thread(() -> {
            end();
            afterShutdown.run();
        });
        Runtime.getRuntime().addShutdownHook(atShutdown);
    }

    /**
     * Starts a process.
     *
     * @param builder its command
     * @return the process
     * @throws IOException           if it cannot be started
     * @throws IllegalStateException if this process is ending
     */
    public synchronized Process start(final ProcessBuilder builder) throws IOException {
        if (ending) {
            throw new IllegalStateException("no process is started while this one ends");
        }
        final Process process = builder.start();
        started.add(process);
        return process;
    }

    private synchronized void end() {
        ending = true;
        started.forEach(Process::destroy);
        final long deadlineNs = System.nanoTime() + END_TIMEOUT_NS;
        for (final Process process : started) {
            try {
                process.waitFor(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        kill();
    }

    private void kill() {
        started.forEach(Process::destroyForcibly);
        started.forEach(process -> process.onExit().join());
    }

    /** Kills the processes that have not ended, and waits for their end. */
    @Override
    public synchronized void close() {
        kill();
        try {
            Runtime.getRuntime().removeShutdownHook(atShutdown);
        } catch (final IllegalStateException shuttingDown) {
            // The hook runs.
        }
    }
}
