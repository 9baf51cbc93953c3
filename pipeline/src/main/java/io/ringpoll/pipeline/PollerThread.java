package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.PollerLoop;
import java.util.function.BiFunction;

/**
 * The polling thread of a pipeline: is pinned, starts the handlers that run on it, runs the poller's loop, ends the handlers.
 */
final class PollerThread {
    private final int cpu;
    private final CompletionPoller poller;
    private final PollerLoop loop;
    private final Handlers handlers;
    private final StartGate startGate;
    private final PipelineThread thread;

    PollerThread(
        final CompletionPoller poller, final int cpu, final PollerLoop loop, final Handlers handlers, final StartGate startGate,
        final CompletionSlab slab, final BiFunction<Runnable, String, Thread> threads) {
        this.poller = poller;
        this.cpu = cpu;
        this.loop = loop;
        this.handlers = handlers;
        this.startGate = startGate;
        this.thread = new PipelineThread(poller.roleName(), slab, this::run, threads);
    }

    Thread thread() {
        return thread.thread();
    }

    void start() {
        thread.start(startGate);
    }

    /** Ends the loop after the current duty cycle; any thread. */
    void stop() {
        loop.stop();
    }

    /** Whether the thread has been started; it then closes the poller at its end. */
    boolean hasStarted() {
        return thread.hasStarted();
    }

    private void run() {
        try {
            if (begin()) {
                startGate.ready(poller.roleName());
                loop.run();
            } else {
                // Releases the completion channels, as the end of the loop would.
                poller.onClose();
            }
        } finally {
            handlers.onPollerEnd();
        }
    }

    private boolean begin() {
        try {
            PinnedThreads.pinCurrentThread(cpu);
            loop.onStart();
            handlers.onPollerStart();
            return true;
        } catch (final HandlerNotStarted notStarted) {
            startGate.failed(notStarted.roleName(), notStarted.getCause());
        } catch (final Throwable failure) {
            startGate.failed(poller.roleName(), failure);
        }
        return false;
    }
}
