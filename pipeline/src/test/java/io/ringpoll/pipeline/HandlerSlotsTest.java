package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.SyntheticQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The slots that a handler may release or hold. */
@Timeout(60)
class HandlerSlotsTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private final AtomicReference<SlotControl> slots = new AtomicReference<>();
    private final AtomicReference<Throwable> refusal = new AtomicReference<>();

    /** Runs an action at one slot. */
    private final class At implements CompletionHandler {
        private final long sequence;
        private final Runnable action;

        private At(final long sequence, final Runnable action) {
            this.sequence = sequence;
            this.action = action;
        }

        @Override
        public void onStart(final SlotControl control) {
            slots.set(control);
        }

        @Override
        public void onCompletion(final WorkCompletion wc, final long at, final boolean endOfBatch) {
            if (at == sequence) {
                action.run();
            }
        }
    }

    private void run(final int maxHeld, final long sequence, final Runnable action) {
        try (Pipeline pipeline = Pipeline.builder().ringSize(64).batchLimit(4)
                .onAll(new At(sequence, action), options -> options.maxHeld(maxHeld).maxBatch(4))
                .queue(new SyntheticQueue("queue", 40)).start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.handlerExceptions());
        }
    }

    private static void awaitParked(final AtomicReference<Thread> thread) {
        await(() -> thread.get() != null && LockSupport.getBlocker(thread.get()) instanceof ParkingWaitStrategy);
    }

    private static void await(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < BOUND_NS, "not in time");
            Thread.yield();
        }
    }

    private String refused(final Runnable disposal) {
        refusal.set(assertThrows(IllegalStateException.class, disposal::run));
        return refusal.get().getMessage();
    }

    @Test
    void shouldRejectASlotThatTheHandlerHasPassed() {
        run(1, 20, () -> {
            slots.get().releaseThrough(20);
            assertTrue(refused(() -> slots.get().releaseThrough(20)).startsWith("slot 20 is not in the current batch, 21 to "));
            refused(() -> slots.get().hold(20));
            refused(() -> slots.get().releaseThrough(0));
        });
        assertTrue(refusal.get() != null);
    }

    @Test
    void shouldRejectAnotherThread() {
        final AtomicReference<Throwable> failed = new AtomicReference<>();
        run(1, 20, () -> {
            final Thread other = new Thread(() -> {
                assertEquals("slot 20 belongs to thread ringpoll-all, not to other: a handler releases early and holds on its " +
                    "own thread", refused(() -> slots.get().hold(20)));
                refused(() -> slots.get().releaseThrough(20));
            }, "other");
            other.setUncaughtExceptionHandler((thread, failure) -> failed.set(failure));
            other.start();
            join(other);
            slots.get().releaseThrough(20);
        });
        assertTrue(refusal.get() != null);
        assertNull(failed.get());
    }

    private static void join(final Thread other) {
        try {
            other.join();
        } catch (final InterruptedException interrupted) {
            throw new AssertionError(interrupted);
        }
    }

    @Test
    void shouldRejectAReleaseBeyondTheBatch() {
        run(1, 20, () -> {
            assertTrue(refused(() -> slots.get().releaseThrough(20 + 4)).startsWith("slot 24 is not in the current batch, "));
        });
        assertTrue(refusal.get() != null);
    }

    @Test
    void shouldNotHoldSlotsWithoutMaxHeld() {
        final AtomicReference<Boolean> answer = new AtomicReference<>();
        run(0, 20, () -> {
            answer.set(slots.get().hold(20));
            refused(() -> slots.get().view(20, new WorkCompletion()));
            refused(() -> slots.get().release(20));
            assertEquals(0, slots.get().held());
        });
        assertFalse(answer.get());
    }

    @Test
    void shouldCountASlotHeldTwiceOnce() {
        run(2, 20, () -> {
            assertTrue(slots.get().hold(20));
            assertTrue(slots.get().hold(20));
            assertEquals(1, slots.get().held());
            slots.get().release(20);
            assertEquals(0, slots.get().held());
            refused(() -> slots.get().release(20));
        });
        assertTrue(refusal.get() != null);
    }

    @Test
    void shouldWakeTheNextStageForSlotsThatAreReleasedBeforeTheEndOfTheBatch() {
        final AtomicReference<Thread> parked = new AtomicReference<>();
        final Recorder next = new Recorder();
        try (Pipeline pipeline = Pipeline.builder().ringSize(64)
                .onAll(new At(0, () -> {
                    awaitParked(parked);
                    slots.get().releaseThrough(0);
                    await(() -> next.size() == 1);
                }))
                .then(next, options -> options.waitStrategy(WaitMode.BLOCK))
                .start()) {
            parked.set(pipeline.handlerThreads().getLast());
            pipeline.addQueue(new SyntheticQueue("queue", 4));
            next.awaitSize(4);
            assertEquals(0, pipeline.handlerExceptions());
        }
    }

    @Test
    void shouldWakeTheNextStageForAHeldSlotThatIsReleased() {
        final Recorder next = new Recorder();
        try (Pipeline pipeline = Pipeline.builder().ringSize(64)
                .onAll(new At(0, () -> assertTrue(slots.get().hold(0))), options ->
                    options.maxHeld(1).waitStrategy(WaitMode.BLOCK))
                .then(next, options -> options.waitStrategy(WaitMode.BLOCK))
                .queue(new SyntheticQueue("queue", 4))
                .start()) {
            await(() -> pipeline.held() == 1);
            for (final Thread handler : pipeline.handlerThreads()) {
                awaitParked(new AtomicReference<>(handler));
            }
            slots.get().release(0);
            await(() -> next.size() == 4);
            assertEquals(0, pipeline.held());
        }
    }

    @Test
    void shouldRejectSlotControlAfterTheHandlerHasHalted() throws InterruptedException {
        try (Pipeline pipeline = Pipeline.builder().ringSize(64).batchLimit(4)
                .onAll(
                    new At(20, () -> {
                        throw new IllegalStateException("on purpose");
                    }),
                    options -> options.maxHeld(1).maxBatch(4).failurePolicy(FailurePolicy.HALT))
                .queue(new SyntheticQueue("queue", 40)).start()) {
            for (final Thread handler : pipeline.handlerThreads()) {
                handler.join();
            }
            // The rest of the batch in which it halted.
            refused(() -> slots.get().hold(21));
            refused(() -> slots.get().releaseThrough(23));
            pipeline.stop(0);
        }
    }
}
