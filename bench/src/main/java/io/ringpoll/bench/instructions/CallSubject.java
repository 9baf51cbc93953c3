package io.ringpoll.bench.instructions;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that calls a C function in a loop, through the binding or in C. A unit is one call, from one arrival at the start of
 * the function to the next.
 */
final class CallSubject implements Subject {
    private static final long END_MS = TimeUnit.SECONDS.toMillis(60);
    private static final int FEWEST_ROUNDS = 2;
    private static final String THREAD = "call-subject";

    private final Runnable end;
    private final long function;
    private final Thread thread;
    private volatile boolean stopped;
    /** Written by the working thread. */
    private volatile long rounds;

    /**
     * Starts the thread.
     *
     * @param calls    a round of some thousand calls
     * @param function address of the called function
     * @param end      releases the resources of the calls
     */
    CallSubject(final Runnable calls, final long function, final Runnable end) {
        this.end = end;
        this.function = function;
        this.thread = Thread.ofPlatform().name(THREAD).daemon().start(() -> {
            for (long finished = 1; !stopped; finished++) {
                calls.run();
                rounds = finished;
            }
        });
    }

    @Override
    public boolean hasRepeated() {
        return rounds >= FEWEST_ROUNDS;
    }

    @Override
    public Steps trace(final Stepper stepper, final int count) throws IOException, InterruptedException {
        final Steps steps = stepper.trace(THREAD, count, function);
        return steps.withUnits(steps.at(function));
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
