package io.ringpoll.pipeline;

import io.ringpoll.poller.PollerLoop;

/**
 * The polling thread of a pipeline: pinned first, then in the poller's loop, with the handlers that run on it started before and
 * ended after.
 */
final class PollerThread implements Runnable {
    private final int cpu;
    private final PollerLoop loop;
    private final Handlers handlers;
    private final StartGate startGate;
    private final Thread thread;

    PollerThread(
        final String name, final int cpu, final PollerLoop loop, final Handlers handlers, final StartGate startGate) {
        this.cpu = cpu;
        this.loop = loop;
        this.handlers = handlers;
        this.startGate = startGate;
        this.thread = new Thread(this, name);
        thread.setDaemon(true);
    }

    Thread thread() {
        return thread;
    }

    void start() {
        startGate.expect(thread.getName());
        thread.start();
    }

    /** Ends the loop after its present duty cycle; any thread. */
    void stop() {
        loop.stop();
    }

    @Override
    public void run() {
        try {
            if (begin()) {
                startGate.ready(thread.getName());
                loop.run();
            }
        } finally {
            handlers.onPollerEnd();
        }
    }

    private boolean begin() {
        try {
            ThreadPlacement.pinCurrentThread(cpu);
            loop.onStart();
            handlers.onPollerStart();
            return true;
        } catch (final HandlerNotStarted notStarted) {
            startGate.failed(notStarted.roleName(), notStarted.getCause());
        } catch (final Throwable failure) {
            startGate.failed(thread.getName(), failure);
        }
        return false;
    }
}
