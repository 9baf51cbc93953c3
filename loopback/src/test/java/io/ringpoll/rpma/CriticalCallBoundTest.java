package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The work of a critical call for other queue pairs is bounded, or a safepoint would wait for it: a small receive releases a
 * message, but does not copy the long writes behind it.
 */
@Timeout(value = 120, unit = TimeUnit.SECONDS)
class CriticalCallBoundTest {
    private static final int WRITES = 8;
    private static final long LONG_BYTES = 32L << 20;
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    @Test
    void shouldNotCopyWaitingWritesWithinAReceive() {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion source = pair.memory(LONG_BYTES);
            final LocalMemoryRegion target = pair.memory(LONG_BYTES);
            final RemoteMemoryRegion remote = pair.remote(target);
            // Once before, so that the call is linked.
            assertTrue(pair.server().receive(target, 0, Long.BYTES, 1));
            assertTrue(pair.client().send(source, 0, Long.BYTES, CompletionFlag.ALWAYS, 1));
            completions.awaitOne(pair.server().completionQueue());
            completions.awaitOne(pair.client().completionQueue());

            final long copyingNs = cpuNs(() -> {
                for (int i = 0; i < WRITES; i++) {
                    MemorySegment.copy(source.memory(), 0, target.memory(), 0, LONG_BYTES);
                }
            });
            assertTrue(pair.client().send(source, 0, Long.BYTES, CompletionFlag.ALWAYS, 2));
            for (int i = 0; i < WRITES; i++) {
                assertTrue(pair.client().write(remote, 0, source, 0, LONG_BYTES, CompletionFlag.ALWAYS, 3 + i));
            }
            final long receiveNs = cpuNs(() -> assertTrue(pair.server().receive(target, 0, Long.BYTES, 2)));

            assertTrue(receiveNs < copyingNs / 10,
                () -> "a receive took " + receiveNs + " ns; copying takes " + copyingNs + " ns");
            completions.await(pair.client().completionQueue(), 1 + WRITES);
        }
    }

    /** Processor time of this thread: other work on the machine does not count. */
    private static long cpuNs(final Runnable work) {
        final long startNs = THREADS.getCurrentThreadCpuTime();
        work.run();
        return THREADS.getCurrentThreadCpuTime() - startNs;
    }
}
