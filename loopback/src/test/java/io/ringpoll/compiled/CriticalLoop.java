package io.ringpoll.compiled;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.PrintStream;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The reproducer of {@code docs/internals/jdk-critical-loop.md}: a loop around a critical downcall that C2 has compiled reaches
 * no safepoint, so that the JVM hangs at the next garbage collection. It needs nothing but a JDK.
 *
 * <p>The argument is {@code critical}, which hangs, or {@code bounded}: every 1,024th call is a plain downcall.
 */
final class CriticalLoop {
    private static final PrintStream OUT = System.out;
    private static final MethodHandle CRITICAL = handle(Linker.Option.critical(false));
    private static final MethodHandle PLAIN = handle();
    private static final int ROUNDS = 200;
    private static final int MAX_DELAY_MS = 8;
    private static final int PERIOD = 1024;

    private static volatile boolean closed;
    private static int calls;
    private static long sum;

    private CriticalLoop() {
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(final Linker.Option... options) {
        final Linker linker = Linker.nativeLinker();
        return linker.downcallHandle(
            linker.defaultLookup().find("labs").orElseThrow(), FunctionDescriptor.of(JAVA_LONG, JAVA_LONG), options);
    }

    private static long callCritical() {
        requireOpen();
        try {
            return (long) CRITICAL.invokeExact(-1L);
        } catch (final Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    private static long callBounded() {
        requireOpen();
        try {
            return (++calls & (PERIOD - 1)) == 0 ? (long) PLAIN.invokeExact(-1L) : (long) CRITICAL.invokeExact(-1L);
        } catch (final Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    private static void requireOpen() {
        if (closed) {
            throw new IllegalStateException("closed");
        }
    }

    private static void loopCritical() {
        while (true) {
            final long result = callCritical();
            if (result < 0) {
                return;
            }
            sum += result;
        }
    }

    private static void loopBounded() {
        while (true) {
            final long result = callBounded();
            if (result < 0) {
                return;
            }
            sum += result;
        }
    }

    private static void run(final boolean bounded) {
        try {
            if (bounded) {
                loopBounded();
            } else {
                loopCritical();
            }
        } catch (final IllegalStateException end) {
            // The end of a round.
        }
    }

    /** Runs the loop in rounds, each with a thread of its own and a garbage collection. */
    public static void main(final String... arguments) throws InterruptedException {
        final boolean bounded = "bounded".equals(arguments[0]);
        for (int round = 0; round < ROUNDS; round++) {
            closed = false;
            final Thread thread = new Thread(() -> run(bounded));
            thread.setDaemon(true);
            thread.start();
            Thread.sleep(ThreadLocalRandom.current().nextInt(MAX_DELAY_MS));
            System.gc();
            closed = true;
            thread.join();
        }
        OUT.println(arguments[0] + ": " + ROUNDS + " rounds");
    }
}
