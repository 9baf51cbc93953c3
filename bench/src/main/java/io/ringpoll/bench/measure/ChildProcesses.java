package io.ringpoll.bench.measure;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Child processes that end with this one. Ctrl-C reaches all of them; another signal, such as that of kill(1), reaches this
 * process only, and a shutdown hook ends the others, also one that is being started at that moment. Thread-safe.
 */
public final class ChildProcesses implements AutoCloseable {
    private final List<Process> started = new ArrayList<>();
    private final Thread atShutdown;
    private boolean ending;

    /**
     * Without processes yet.
     *
     * @param afterShutdown called when the shutdown hook has ended the processes
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
    }

    /** Kills the processes that have not ended. */
    @Override
    public synchronized void close() {
        started.forEach(Process::destroyForcibly);
        try {
            Runtime.getRuntime().removeShutdownHook(atShutdown);
        } catch (final IllegalStateException shuttingDown) {
            // The hook runs.
        }
    }
}
