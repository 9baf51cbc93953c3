package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.os.Deadline;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A thread of a pipeline retains the slab from its start to its end. */
@Timeout(60)
class PipelineThreadTest {
    private final CompletionSlab slab = new CompletionSlab(2);
    private final StartGate gate = new StartGate();

    @Test
    void shouldRetainTheSlabUntilItsWorkEndsOrThrows() throws InterruptedException {
        for (final RuntimeException thrown : new RuntimeException[]{null, new IllegalStateException("provoked")}) {
            final CompletionSlab used = new CompletionSlab(2);
            final AtomicReference<Throwable> uncaught = new AtomicReference<>();
            final PipelineThread thread = new PipelineThread("a", used, () -> {
                used.release();
                assertFalse(used.isFreed());
                if (thrown != null) {
                    throw thrown;
                }
            }, Thread::new);
            thread.thread().setUncaughtExceptionHandler((failed, failure) -> uncaught.set(failure));
            assertFalse(thread.hasStarted());
            assertEquals("a", thread.thread().getName());
            assertTrue(thread.thread().isDaemon());
            thread.start(gate);
            thread.thread().join();
            assertTrue(thread.hasStarted());
            assertTrue(used.isFreed());
            assertSame(thrown, uncaught.get());
        }
        final PipelineStartException missing =
            assertThrows(PipelineStartException.class, () -> gate.await(Deadline.after(0)));
        assertEquals("threads a, a did not start within 0 ns", missing.getMessage());
    }

    @Test
    void shouldReleaseTheSlabOnceIfItsThreadEndsWithoutTheTask() throws InterruptedException {
        final AtomicInteger ends = new AtomicInteger();
        final AtomicReference<Runnable> task = new AtomicReference<>();
        final PipelineThread thread = new PipelineThread("a", slab, () -> { }, (work, name) -> {
            task.set(work);
            return new Thread(() -> { }, name);
        });
        thread.endWithoutTask(ends::incrementAndGet);
        thread.start(gate);
        thread.thread().join();
        slab.release();
        assertFalse(slab.isFreed());
        thread.endWithoutTask(ends::incrementAndGet);
        thread.endWithoutTask(ends::incrementAndGet);
        assertEquals(1, ends.get());
        assertTrue(slab.isFreed());
        assertThrows(IllegalStateException.class, task.get()::run);
    }

    @Test
    void shouldNotRetainTheSlabIfItCannotStart() {
        final PipelineThread thread = new PipelineThread("a", slab, () -> { }, (work, name) -> new Thread(work, name) {
            @Override
            public void start() {
                throw new OutOfMemoryError("no thread");
            }
        });
        assertEquals("thread a did not start: no thread",
            assertThrows(PipelineStartException.class, () -> thread.start(gate)).getMessage());
        slab.release();
        assertTrue(slab.isFreed());
    }
}
