package io.ringpoll.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.os.ThreadAffinity;
import java.util.BitSet;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class KernelThreadTest {
    private final AtomicReference<KernelThread> thread = new AtomicReference<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** Runs on its own thread, so that the thread of the tests keeps its mask. */
    private void onItsOwnThread(final Runnable work) throws InterruptedException {
        final Thread worker = new Thread(() -> {
            try {
                thread.set(KernelThread.current());
                work.run();
            } catch (final Throwable t) {
                failure.set(t);
            }
        }, "a (strange) name");
        worker.start();
        worker.join();
        if (failure.get() != null) {
            throw new AssertionError(failure.get());
        }
    }

    @Test
    void shouldFindAThreadWhereItWasPut() throws InterruptedException {
        onItsOwnThread(() -> {
            final int cpu = ThreadAffinity.get().nextSetBit(0);
            ThreadAffinity.pin(cpu);
            final KernelThread.State state = thread.get().state().orElseThrow();
            assertEquals(cpu, state.lastCpu());
            assertEquals(ThreadAffinity.get(), state.allowedCpus());
            assertEquals(Optional.empty(), thread.get().strayedFrom(cpu));
        });
    }

    @Test
    void shouldReportAChangedMaskOfAThread() throws InterruptedException {
        final BitSet all = ThreadAffinity.get();
        Assumptions.assumeTrue(all.cardinality() > 1, "needs two CPUs");
        onItsOwnThread(() -> {
            final int cpu = all.nextSetBit(0);
            final int other = all.nextSetBit(cpu + 1);
            ThreadAffinity.pin(other);
            final String strayed = thread.get().strayedFrom(cpu).orElseThrow();
            assertTrue(strayed.contains("was pinned to CPU " + cpu + ", and its mask now allows {" + other + "}"), strayed);
        });
    }

    @Test
    void shouldReportAThreadThatRunsElsewhereOrMayDoSo() {
        final KernelThread self = KernelThread.current();
        final String pinned = "thread " + self.id() + " was pinned to CPU 3, and ";
        final BitSet mask = new BitSet();
        mask.set(3);
        assertEquals(Optional.empty(), self.deviation(new KernelThread.State(mask, 3, 0, 0), 3));
        assertEquals(Optional.of(pinned + "ran last on CPU 5"), self.deviation(new KernelThread.State(mask, 5, 0, 0), 3));
        mask.set(5);
        assertEquals(Optional.of(pinned + "its mask now allows {3, 5}"),
            self.deviation(new KernelThread.State(mask, 3, 0, 0), 3));
        mask.clear(3);
        assertEquals(Optional.of(pinned + "its mask now allows {5}"),
            self.deviation(new KernelThread.State(mask, 5, 0, 0), 3));
    }

    @Test
    void shouldCountContextSwitches() throws InterruptedException {
        onItsOwnThread(() -> {
            final long before = thread.get().state().orElseThrow().voluntarySwitches();
            for (int i = 0; i < 5; i++) {
                LockSupport.parkNanos(1_000_000);
            }
            assertTrue(thread.get().state().orElseThrow().voluntarySwitches() >= before + 5);
        });
    }

    @Test
    void shouldBeAskedFromAnotherThreadAndSurviveTheEnd() throws InterruptedException {
        final CountDownLatch asked = new CountDownLatch(1);
        final CountDownLatch begun = new CountDownLatch(1);
        final Thread worker = new Thread(() -> {
            thread.set(KernelThread.current());
            begun.countDown();
            try {
                asked.await();
            } catch (final InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        worker.start();
        begun.await();
        assertTrue(thread.get().state().isPresent());
        asked.countDown();
        worker.join();
        // The kernel thread ends a moment after the Java thread.
        final long startNs = System.nanoTime();
        while (thread.get().state().isPresent()) {
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(20), "it does not end");
            LockSupport.parkNanos(1_000_000);
        }
        assertEquals(Optional.empty(), thread.get().strayedFrom(0));
    }
}
