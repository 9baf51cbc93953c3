package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.device.Device;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.ProcessResources;
import java.io.PrintStream;
import java.util.List;

/**
 * The C heap that remains when all objects of a binding have been created and closed many times, in a child JVM without a
 * compiler, so that the heap belongs to the binding and the libraries: leaked strings and private data show. Only on the loopback
 * device: it is a matter of user space, and an interpreter in an emulation would take minutes.
 */
final class RepeatedLife {
    /** The limit of a test that calls {@link #assertLeavesNothing}. */
    static final int TEST_LIMIT_SECONDS = 320;

    /** For an interpreter that has to share its CPU, of which it needs ten seconds and more. */
    private static final int TIMEOUT_SECONDS = 300;
    /** What a thread keeps of its freed blocks for itself counts as used: on a busy machine that changes in each round. */
    private static final String NO_CACHES = "glibc.malloc.tcache_count=0:glibc.malloc.arena_max=1";
    private static final int TIMES = 300;
    private static final int MOST_ROUNDS = 20;
    /** Rounds in a row: the JVM frees or takes something of its own in one or another; a leak is there in each. */
    private static final int CLEAN_ROUNDS = 2;
    /** Less than the smallest block of malloc for each life. */
    private static final long ALLOWED_BYTES = 16 * TIMES;
    private static final PrintStream OUT = System.out;

    private RepeatedLife() {
    }

    /**
     * In the test: runs a program that calls {@link #printGrowth}, and judges what it has printed.
     *
     * @param program the main class
     */
    static void assertLeavesNothing(final Class<?> program) {
        final String output = JavaProcess.create().option("-Xint").option("-XX:+UseSerialGC")
            .property(Device.DEVICE_PROPERTY, "loopback").variable("GLIBC_TUNABLES", NO_CACHES)
            .timeoutSeconds(TIMEOUT_SECONDS).run(program);
        final List<Long> growths = output.lines().map(Long::parseLong).toList();
        assertTrue(growths.size() >= CLEAN_ROUNDS, output);
        assertTrue(growths.subList(growths.size() - CLEAN_ROUNDS, growths.size()).stream().allMatch(RepeatedLife::isClean),
            "bytes that rounds of " + TIMES + " leave behind: " + growths);
    }

    private static boolean isClean(final long growth) {
        return Math.abs(growth) < ALLOWED_BYTES;
    }

    /**
     * In the program: prints how many bytes of C heap each round of lives has left behind, up to the first that have left none.
     *
     * @param life creates and closes all objects once
     * @throws InterruptedException if the calling thread is interrupted
     */
    static void printGrowth(final Runnable life) throws InterruptedException {
        repeat(life);
        long before = ProcessResources.settledHeapBytes();
        int clean = 0;
        for (int round = 0; round < MOST_ROUNDS && clean < CLEAN_ROUNDS; round++) {
            repeat(life);
            final long after = ProcessResources.settledHeapBytes();
            OUT.println(after - before);
            clean = isClean(after - before) ? clean + 1 : 0;
            before = after;
        }
    }

    private static void repeat(final Runnable life) {
        for (int i = 0; i < TIMES; i++) {
            life.run();
        }
    }
}
