package io.ringpoll.bench.instructions;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that makes a call into C again and again, through the binding or in C. Its unit is a call: the thread comes once to
 * the start of the called function.
 */
final class CallSubject implements Subject {
    private static final long END_MS = TimeUnit.SECONDS.toMillis(60);
    private static final String THREAD = "call-subject";

    private final Runnable end;
    private final long function;
    private final Thread thread;
    private volatile boolean stopped;

    /**
     * Starts the thread.
     *
     * @param calls    some thousand calls
     * @param function address of the called function
     * @param end      releases what the calls need
     */
    CallSubject(final Runnable calls, final long function, final Runnable end) {
        this.end = end;
        this.function = function;
        this.thread = Thread.ofPlatform().name(THREAD).daemon().start(() -> {
            while (!stopped) {
                calls.run();
            }
        });
    }

    @Override
    public String thread() {
        return THREAD;
    }

    @Override
    public long progress() {
        return 0;
    }

    @Override
    public double units(final Steps steps) {
        return steps.at(function);
    }

    @Override
    public void close() {
        stopped = true;
        boolean interrupted = false;
        final long endMs = System.currentTimeMillis() + END_MS;
        while (thread.isAlive() && System.currentTimeMillis() < endMs) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            interrupted |= Thread.interrupted();
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            throw new IllegalStateException(THREAD + " did not end");
        }
        end.run();
    }
}
