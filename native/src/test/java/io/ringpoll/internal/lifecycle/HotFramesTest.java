package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.OtherThread;
import java.io.PrintStream;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Stacks of threads: whether the JVM shows them, and the frames of hot calls in them. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotFramesTest {
    @Test
    void shouldFindTheFrameOfACallHoweverDeepTheStackBelowItIs() throws InterruptedException {
        final HotCalls calls = HotCalls.register(HotCaller.class);
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final Thread caller = new Thread(() -> deeper(5000, () -> {
            try {
                HotCaller.call(calls, mark -> {
                    inside.countDown();
                    return goOn.await(30, TimeUnit.SECONDS);
                });
            } catch (final InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }));
        caller.start();
        assertTrue(inside.await(30, TimeUnit.SECONDS));
        assertTrue(HotFrames.isInside(caller));
        goOn.countDown();
        caller.join();
        assertFalse(HotFrames.isInside(caller), "a thread that has ended");
        calls.discard();
    }

    @Test
    void shouldRelyOnStacksUnlessTheJvmCutsThemOff() {
        assertTrue(HotFrames.canObserve(Thread.currentThread()));
        assertEquals("owner", enteredWith("-XX:MaxJavaStackTraceDepth=1024"));
        assertEquals("owner", enteredWith("-XX:MaxJavaStackTraceDepth=0"));
        assertEquals("owner", enteredWith("-XX:-StackTraceInThrowable"));
        assertEquals("lock", enteredWith("-XX:MaxJavaStackTraceDepth=10"));
    }

    private static String enteredWith(final String option) {
        return JavaProcess.create().option(option).run(Caller.class);
    }

    private static void deeper(final int frames, final Runnable last) {
        if (frames == 0) {
            last.run();
        } else {
            deeper(frames - 1, last);
        }
    }

    /** Enters once, and waits for another thread's call. */
    static final class Caller {
        private static final PrintStream OUT = System.out;

        private Caller() {
        }

        /** Prints the input. */
        public static void main(final String[] arguments) throws InterruptedException {
            final HotCalls calls = HotCalls.register(HotCaller.class);
            final boolean lock = HotCaller.call(calls, HotMark::isLock);
            OtherThread.run(() -> {
                HotCaller.call(calls);
                HotCalls.awaitQuiescence();
                return null;
            }).result();
            OUT.println(lock ? "lock" : "owner");
        }
    }
}
