package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.device.Device;
import io.ringpoll.rpma.LogLevel;
import io.ringpoll.rpma.RpmaLog;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.ProcessResources;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The C heap after lives of a connection in which each native call has failed in turn, in a child JVM without a compiler: a leak
 * that is no object of the device shows there.
 */
class FailingCallsLeakTest {
    /** For an interpreter that has to share its CPU, of which it needs ten seconds and more. */
    private static final int TIMEOUT_SECONDS = 300;
    /** What a thread keeps of its freed blocks for itself counts as used: on a busy machine that changes in each round. */
    private static final String NO_CACHES = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1";
    private static final int MOST_ROUNDS = 20;
    private static final int SWEEPS = 4;
    /** Less than the smallest block of malloc, for one call of each sweep. */
    private static final long ALLOWED_BYTES = 16 * SWEEPS;

    @Test
    @Timeout(320)
    void shouldFreeAllNativeMemoryAfterAFailedCall() {
        final String output = JavaProcess.create().option("-Xint").option("-XX:+UseSerialGC")
            .property(Device.DEVICE_PROPERTY, "loopback").variable("GLIBC_TUNABLES", NO_CACHES)
            .timeoutSeconds(TIMEOUT_SECONDS).run(EachCallFailing.class);
        final List<Long> growths = output.lines().map(Long::parseLong).toList();
        // The JVM frees or takes something of its own in one round or another; a leak is there in each.
        assertTrue(isClean(growths.getLast()),
            "bytes that " + SWEEPS + " times each failing call leaves behind: " + growths);
    }

    private static boolean isClean(final long growth) {
        return Math.abs(growth) < ALLOWED_BYTES;
    }

    /** Prints how many bytes of C heap each round has left behind, up to the first that has left none. */
    static final class EachCallFailing {
        private static final PrintStream OUT = System.out;
        private static final ConnectionLife LIFE = new ConnectionLife();

        private EachCallFailing() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            RpmaLog.threshold(LogLevel.DISABLED);
            // The first lives make calls that no later one does.
            calls();
            final List<Integer> calls = calls();
            sweep(calls);
            long before = ProcessResources.settledHeapBytes();
            boolean clean = false;
            for (int round = 0; round < MOST_ROUNDS && !clean; round++) {
                for (int i = 0; i < SWEEPS; i++) {
                    sweep(calls);
                }
                final long after = ProcessResources.settledHeapBytes();
                OUT.println(after - before);
                clean = isClean(after - before);
                before = after;
            }
        }

        /** The numbers of all calls but the one that librpma does not clean up after, and the one that lets memory be kept. */
        private static List<Integer> calls() {
            final List<Integer> calls = new ArrayList<>();
            ConnectionLife.Outcome outcome = LIFE.runWithFailingCall(1);
            for (int n = 1; outcome.failed().isPresent(); n++) {
                if (!outcome.isLostByLibrpma() && !outcome.keepsMemory()) {
                    calls.add(n);
                }
                outcome = LIFE.runWithFailingCall(n + 1);
            }
            return calls;
        }

        private static void sweep(final List<Integer> calls) {
            calls.forEach(LIFE::runWithFailingCall);
        }
    }
}
