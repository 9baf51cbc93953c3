package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.SyntheticQueue;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SlotControlTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    @Test
    void shouldPreserveHeldSlotsWhileTheRingContinues() throws InterruptedException {
        final int count = 200_000;
        final BlockingQueue<Long> handedOver = new ArrayBlockingQueue<>(64);
        final Holder holder = new Holder(handedOver);
        final AtomicLong used = new AtomicLong();
        final AtomicLong wrong = new AtomicLong();
        final Thread other = Thread.ofPlatform().start(() -> {
            final WorkCompletion mine = new WorkCompletion();
            try {
                for (Long sequence = handedOver.take(); sequence >= 0; sequence = handedOver.take()) {
                    // With a single queue, a slot's sequence equals its completion's id.
                    if (holder.slots.view(sequence, mine).workRequestId() != sequence) {
                        wrong.incrementAndGet();
                    }
                    used.incrementAndGet();
                    holder.slots.release(sequence);
                }
            } catch (final InterruptedException end) {
                wrong.incrementAndGet();
            }
        });
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(256)
                .onAll(holder, options -> options.maxHeld(32))
                .queue(new SyntheticQueue("queue", count))
                .start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            handedOver.put(-1L);
            other.join();
            assertEquals(0, pipeline.held());
        }
        assertEquals(0, wrong.get());
        assertEquals(holder.held, used.get());
        assertTrue(used.get() > count / 100, "only " + used + " were held");
    }

    @Test
    void shouldStopThePollerAtAHeldSlotAndContinueAfterItsRelease() throws InterruptedException {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(16)
                .batchLimit(4)
                .onAll(new HoldingOnly(slots, 5), options -> options.maxHeld(1))
                .queue(new SyntheticQueue("queue", 1000))
                .start()) {
            // The ring may have been full before, when the handler did not have its CPU.
            while (pipeline.pollerCounters().completions() < 5 + 16 || pipeline.held() == 0) {
                Thread.sleep(1);
            }
            Thread.sleep(10);
            assertEquals(5 + 16, pipeline.pollerCounters().completions(), "slots 0 to 4 are free again, from 5 on none");
            assertEquals(16, pipeline.occupancy());
            assertEquals(1, pipeline.held());
            slots.get().release(5);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(1000, pipeline.pollerCounters().completions());
        }
    }

    @Test
    void shouldGateAStageByTheSlotsHeldByTheStageBefore() {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final Recorder acknowledge = new Recorder();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(64)
                .onAll(new HoldingOnly(slots, 5), options -> options.maxHeld(1))
                .then(acknowledge, options -> options.waitStrategy(WaitMode.BLOCK))
                .queue(new SyntheticQueue("queue", 20))
                .start()) {
            acknowledge.awaitSize(5);
            assertFalse(pipeline.drain(TimeUnit.MILLISECONDS.toNanos(50)).inTime());
            assertEquals(5, acknowledge.size());
            slots.get().release(5);
            acknowledge.awaitSize(20);
        }
    }

    @Test
    void shouldReturnFalseForAHoldAboveTheLimit() throws InterruptedException {
        final List<Boolean> answers = new CopyOnWriteArrayList<>();
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(64)
                .onAll(
                    new ControllingHandler(slots) {
                        @Override
                        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                            answers.add(slots.get().hold(sequence));
                        }
                    },
                    options -> options.maxHeld(2))
                .queue(new SyntheticQueue("queue", 4))
                .start()) {
            // Each slot is requested while the first two are held.
            while (answers.size() < 4) {
                Thread.sleep(1);
            }
            slots.get().release(1);
            slots.get().release(0);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        assertEquals(List.of(true, true, false, false), answers);
    }

    @Test
    void shouldDetectASecondReleaseAndUseAfterRelease() {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        try (Pipeline pipeline = startHoldingSlotTwo(slots)) {
            assertEquals(2, slots.get().view(2, new WorkCompletion()).workRequestId());
            slots.get().release(2);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            final IllegalStateException twice =
                assertThrows(IllegalStateException.class, () -> slots.get().release(2));
            assertEquals("slot 2 is not held: it never was, or has been released", twice.getMessage());
            assertThrows(IllegalStateException.class, () -> slots.get().view(2, new WorkCompletion()));
            assertThrows(IllegalStateException.class, () -> slots.get().release(2 + 16));
            assertEquals(0, pipeline.held());
        }
    }

    /** A ring of 16 slots and a queue of 10 completions. Returns when slot 2 is held. */
    private static Pipeline startHoldingSlotTwo(final AtomicReference<SlotControl> slots) {
        final HoldingOnly handler = new HoldingOnly(slots, 2);
        final Pipeline pipeline = Pipeline.builder()
            .ringSize(16)
            .onAll(handler, options -> options.maxHeld(1))
            .queue(new SyntheticQueue("queue", 10))
            .start();
        handler.awaitHold();
        return pipeline;
    }

    /** A user may initialize its last sequence with -1. The release must not free the memory of the ring. */
    @Test
    void shouldRefuseTheSequenceBeforeTheFirst() {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        try (Pipeline pipeline = startHoldingSlotTwo(slots)) {
            assertEquals("slot -1 is not held: it never was, or has been released",
                assertThrows(IllegalStateException.class, () -> slots.get().release(-1)).getMessage());
            assertThrows(IllegalStateException.class, () -> slots.get().view(-1, new WorkCompletion()));
            assertEquals(1, pipeline.held());
            slots.get().release(2);
        }
    }

    @Test
    void shouldReuseSlotsThatAHandlerReleasesBeforeTheEndOfItsBatch() throws InterruptedException {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final CountDownLatch goOn = new CountDownLatch(1);
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(16)
                .batchLimit(16)
                .onAll(
                    new ControllingHandler(slots) {
                        @Override
                        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch)
                            throws InterruptedException {
                            if (sequence == 3) {
                                slots.get().releaseThrough(2);
                                assertTrue(goOn.await(10, TimeUnit.SECONDS));
                            }
                        }
                    },
                    options -> options.maxBatch(16))
                .queue(new SyntheticQueue("queue", 100))
                .start()) {
            while (pipeline.pollerCounters().completions() < 16 + 3) {
                Thread.sleep(1);
            }
            Thread.sleep(5);
            assertEquals(16 + 3, pipeline.pollerCounters().completions());
            goOn.countDown();
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(0, pipeline.handlerExceptions());
        }
    }

    @Test
    void shouldRejectSlotsOutsideTheCurrentBatch() {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        try (Pipeline pipeline = Pipeline.builder()
                .ringSize(16)
                .onAll(
                    new ControllingHandler(slots) {
                        @Override
                        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                            slots.get().hold(sequence + 100);
                        }
                    },
                    options -> options.maxHeld(1))
                .queue(new SyntheticQueue("queue", 3))
                .start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(3, pipeline.handlerExceptions());
        }
    }

    @Test
    void shouldRetainTheMemoryOfAHeldSlotAfterTheClose() throws InterruptedException {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final Pipeline pipeline = startHoldingSlotTwo(slots);
        final PipelineReport report = pipeline.close(TimeUnit.MILLISECONDS.toNanos(100));
        assertFalse(report.inTime());
        assertEquals(1, report.held());
        assertFalse(pipeline.slab().isFreed());
        assertEquals(2, slots.get().view(2, new WorkCompletion()).workRequestId());
        join(pipeline);
        slots.get().release(2);
        assertTrue(pipeline.slab().isFreed());
        assertThrows(IllegalStateException.class, () -> slots.get().view(2, new WorkCompletion()));
    }

    /** By mistake: the last release, of another thread, is under way, and ends the buffer of the slab in two steps. */
    @Test
    void shouldShowAHeldSlotByTheAddressThatItKeeps() throws InterruptedException {
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final Pipeline pipeline = startHoldingSlotTwo(slots);
        pipeline.close(TimeUnit.MILLISECONDS.toNanos(100));
        join(pipeline);
        pipeline.slab().buffer().wrap(0L, 0);
        assertEquals(2, slots.get().view(2, new WorkCompletion()).workRequestId());
        slots.get().release(2);
        assertTrue(pipeline.slab().isFreed());
    }

    @Test
    void shouldNotFreeTheAddressesThatAFlyweightStillShows() throws InterruptedException {
        // Not on the first page.
        final long held = 5000;
        final AtomicReference<SlotControl> slots = new AtomicReference<>();
        final HoldingOnly handler = new HoldingOnly(slots, held);
        // The C library unmaps so much memory when it is freed: a read of it would end the JVM.
        final Pipeline pipeline = Pipeline.builder()
            .ringSize(1 << 20)
            .onAll(handler, options -> options.maxHeld(1))
            .queue(new SyntheticQueue("queue", held + 1))
            .start();
        handler.awaitHold();
        final WorkCompletion late = slots.get().view(held, new WorkCompletion());
        assertEquals(held, late.workRequestId());
        pipeline.close(TimeUnit.MILLISECONDS.toNanos(100));
        join(pipeline);
        slots.get().release(held);
        assertTrue(pipeline.slab().isFreed());
        for (int i = 0; i < 3; i++) {
            System.gc();
            assertEquals(0, late.workRequestId(), "its page has been returned");
            assertThrows(IllegalStateException.class, () -> late.moveTo(0));
        }
    }

    /** Waits until the threads have ended, which the close with its short time may not have done. */
    private static void join(final Pipeline pipeline) throws InterruptedException {
        pipeline.pollerThread().join();
        for (final Thread handler : pipeline.handlerThreads()) {
            handler.join();
        }
    }

    /** Exposes its control to the test. */
    private abstract static class ControllingHandler implements CompletionHandler {
        private final AtomicReference<SlotControl> slots;

        ControllingHandler(final AtomicReference<SlotControl> slots) {
            this.slots = slots;
        }

        @Override
        public void onStart(final SlotControl control) {
            slots.set(control);
        }
    }

    /** Holds one slot. */
    private static final class HoldingOnly extends ControllingHandler {
        private final AtomicReference<SlotControl> slots;
        private final long held;
        private volatile boolean holds;

        HoldingOnly(final AtomicReference<SlotControl> slots, final long held) {
            super(slots);
            this.slots = slots;
            this.held = held;
        }

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            if (sequence == held) {
                assertTrue(slots.get().hold(sequence));
                holds = true;
            }
        }

        /** Returns when the slot is held; the count of held slots increases before that. */
        void awaitHold() {
            while (!holds) {
                Thread.yield();
            }
        }
    }

    /** Holds as many slots as permitted and passes them to another thread. */
    private static final class Holder implements CompletionHandler {
        private final BlockingQueue<Long> handedOver;
        private volatile SlotControl slots;
        private long held;

        Holder(final BlockingQueue<Long> handedOver) {
            this.handedOver = handedOver;
        }

        @Override
        public void onStart(final SlotControl control) {
            slots = control;
        }

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch)
            throws InterruptedException {
            if (sequence % 7 < 3 && slots.hold(sequence)) {
                held++;
                handedOver.put(sequence);
            }
        }
    }
}
