package io.ringpoll.pipeline;

import io.ringpoll.os.ThreadAffinity;

/**
 * Puts the threads of a pipeline where the builder said.
 */
final class ThreadPlacement {
    /** The thread may run wherever the operating system likes. */
    static final int ANY_CPU = -1;

    private ThreadPlacement() {
    }

    static void pinCurrentThread(final int cpu) {
        if (cpu != ANY_CPU) {
            ThreadAffinity.pin(cpu);
        }
    }
}
