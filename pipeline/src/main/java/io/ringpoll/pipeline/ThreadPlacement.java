package io.ringpoll.pipeline;

import io.ringpoll.os.ThreadAffinity;

/**
 * Pins the threads of a pipeline.
 */
final class ThreadPlacement {
    /** The operating system may schedule the thread on any CPU. */
    static final int ANY_CPU = -1;

    private ThreadPlacement() {
    }

    static void pinCurrentThread(final int cpu) {
        if (cpu != ANY_CPU) {
            ThreadAffinity.pin(cpu);
        }
    }
}
