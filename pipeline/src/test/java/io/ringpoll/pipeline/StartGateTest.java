package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.os.Deadline;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The wait for the threads of a pipeline: complete, too late, failed, interrupted. */
@Timeout(60)
class StartGateTest {
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);

    private final StartGate gate = new StartGate();

    @Test
    void shouldNotWaitForThreadsThatAreReady() {
        gate.await(Deadline.after(0));
        gate.expect("a");
        gate.expect("b");
        gate.ready("b");
        gate.ready("a");
        gate.await(Deadline.after(0));
    }

    @Test
    void shouldNameTheThreadsThatAreNotReadyInTime() {
        gate.expect("a");
        gate.expect("b");
        gate.expect("c");
        gate.ready("b");
        final PipelineStartException late =
            assertThrows(PipelineStartException.class, () -> gate.await(Deadline.after(1_000_000)));
        assertEquals("threads a, c did not start within 1 ms", late.getMessage());
        assertNull(late.getCause());
    }

    @Test
    void shouldReportTheFirstFailure() {
        gate.expect("a");
        gate.expect("b");
        final IllegalStateException first = new IllegalStateException("no memory");
        gate.failed("b", first);
        gate.failed("a", new IllegalStateException("later"));
        gate.ready("a");
        gate.ready("b");
        final PipelineStartException failed =
            assertThrows(PipelineStartException.class, () -> gate.await(Deadline.after(HOUR_NS)));
        assertEquals("thread b did not start: no memory", failed.getMessage());
        assertSame(first, failed.getCause());
    }

    @Test
    void shouldEndTheWaitWhenTheLastThreadIsReady() throws Exception {
        gate.expect("a");
        final FutureTask<Void> wait = startWait();
        gate.ready("a");
        wait.get();
    }

    @Test
    void shouldEndTheWaitWithAFailure() throws InterruptedException {
        gate.expect("a");
        final FutureTask<Void> wait = startWait();
        gate.failed("a", new OutOfMemoryError());
        assertTrue(assertThrows(Exception.class, wait::get).getCause().getMessage()
            .endsWith("thread a did not start: java.lang.OutOfMemoryError"));
    }

    @Test
    void shouldEndTheWaitWithAnInterruptAndRestoreTheFlag() {
        gate.expect("a");
        Thread.currentThread().interrupt();
        final PipelineStartException interrupted =
            assertThrows(PipelineStartException.class, () -> gate.await(Deadline.after(HOUR_NS)));
        assertTrue(Thread.interrupted());
        assertEquals("interrupted while threads a started", interrupted.getMessage());
    }

    /** Waits on another thread, which is in the wait when this returns. */
    private FutureTask<Void> startWait() throws InterruptedException {
        final FutureTask<Void> wait = new FutureTask<>(() -> {
            gate.await(Deadline.after(HOUR_NS));
            return null;
        });
        final Thread waiter = Thread.ofPlatform().daemon().start(wait);
        while (waiter.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        return wait;
    }
}
