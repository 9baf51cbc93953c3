package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.completion.IbvWc;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The queue of each live slot is found, however the runs of the ring are laid out. */
@Timeout(60)
class QueueRunsTest {
    private static final int QUEUES = 5;

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8, 64, 1024})
    void shouldFindTheQueueOfEachLiveSlot(final int capacity) {
        final QueueRuns runs = new QueueRuns(capacity);
        final int[] queues = new int[20 * capacity];
        final Random random = new Random(capacity);
        int last = -1;
        int published = 0;
        while (published < queues.length) {
            // As adjacent batches of one queue do, the next run may continue the last one.
            final int queue = random.nextInt(QUEUES) + 0xFFFF - QUEUES;
            final int size = Math.min(1 + random.nextInt(random.nextBoolean() ? 1 : capacity), queues.length - published);
            if (queue != last) {
                runs.begin(published, queue);
                last = queue;
            }
            for (int i = 0; i < size; i++) {
                queues[published++] = queue;
            }
            long previous = random.nextInt(published);
            for (int slot = Math.max(0, published - capacity); slot < published; slot++) {
                assertEquals(queues[slot], runs.queueIndex(runs.find(slot)), "slot " + slot + " of " + published);
                previous = runs.find(slot, random.nextInt(4) == 0 ? random.nextInt(published) : previous);
                assertEquals(queues[slot], runs.queueIndex(previous), "slot " + slot + " of " + published);
            }
        }
    }

    @Test
    void shouldFindTheSameRunWhileTheOldestAreOverwritten() throws InterruptedException {
        final int capacity = 16;
        final long slots = 2_000_000;
        final QueueRuns runs = new QueueRuns(capacity);
        final AtomicLong published = new AtomicLong();
        final AtomicLong passed = new AtomicLong();
        final Thread poller = Thread.ofPlatform().start(() -> {
            for (long slot = 0; slot < slots; slot++) {
                final long needed = slot - capacity;
                await(() -> passed.get() > needed);
                runs.begin(slot, (int) (slot * 31 & 0xFFFF));
                published.setRelease(slot + 1);
            }
        });
        final Random random = new Random(capacity);
        long wrong = 0;
        long previous = -1;
        for (long slot = 0; slot < slots; slot++) {
            final long needed = slot;
            await(() -> published.getAcquire() > needed);
            if (slot % 7 < 4) {
                wrong += runs.queueIndex(runs.find(slot)) == (slot * 31 & 0xFFFF) ? 0 : 1;
                // Skipped slots make the run after the previous one an overwritten one now and then.
                previous = runs.find(slot, slot % 3 == 0 ? previous : slot - random.nextInt(capacity + 2));
                wrong += runs.queueIndex(previous) == (slot * 31 & 0xFFFF) ? 0 : 1;
            }
            passed.setRelease(slot + 1);
        }
        poller.join();
        assertEquals(0, wrong);
    }

    /** Where other programs have the other cores, a spin would take a time slice, 125,000 times. */
    private static void await(final BooleanSupplier condition) {
        for (int spins = 0; !condition.getAsBoolean(); spins++) {
            if (spins < 1000) {
                Thread.onSpinWait();
            } else {
                Thread.yield();
            }
        }
    }

    @Test
    void shouldFindTheQueueByTheAddressOfTheRecord() {
        final CompletionSlab slab = new CompletionSlab(8);
        final AtomicLong next = new AtomicLong();
        final SlotSource source = new SlotSource(slab, new RecordingContext(), next::get, () -> 0);
        final long address = slab.buffer().addressOffset();
        slab.queueRuns().begin(0, 3);
        slab.queueRuns().begin(6, 1);
        slab.queueRuns().begin(11, 4);
        next.set(5);
        final int[] queues = {1, 1, 1, 4, 4, 3, 1, 1};
        for (int slot = 0; slot < 8; slot++) {
            assertEquals(queues[slot], source.queueIndex(address + slot * IbvWc.SIZE_BYTES), "slot " + slot);
            assertEquals(queues[slot], SlotSource.queueIndex(slab, address, address + slot * IbvWc.SIZE_BYTES, 5));
        }
        assertEquals("the completion has no queue index: it is not in the ring",
            assertThrows(IllegalStateException.class, () -> source.queueIndex(address - IbvWc.SIZE_BYTES)).getMessage());
        assertThrows(IllegalStateException.class, () -> source.queueIndex(address + 8 * IbvWc.SIZE_BYTES));
        slab.release();
    }

    @Test
    void shouldSearchOnceForTheSlotsOfABatchInTheNewestRun() {
        final CompletionSlab slab = new CompletionSlab(8);
        final AtomicLong next = new AtomicLong();
        final AtomicLong last = new AtomicLong();
        final AtomicLong searches = new AtomicLong();
        final SlotSource source = new SlotSource(slab, new RecordingContext(), next::get, () -> {
            searches.incrementAndGet();
            return last.get();
        });
        final long address = slab.buffer().addressOffset();
        slab.queueRuns().begin(0, 3);
        last.set(3);
        for (int slot = 0; slot <= 3; slot++) {
            assertEquals(3, source.queueIndex(address + slot * IbvWc.SIZE_BYTES), "slot " + slot);
        }
        assertEquals(1, searches.get());
        // The run goes on in the next batch, and ends in it.
        slab.queueRuns().begin(5, 1);
        next.set(4);
        last.set(6);
        final int[] queues = {3, 1, 1};
        for (int slot = 4; slot <= 6; slot++) {
            assertEquals(queues[slot - 4], source.queueIndex(address + slot * IbvWc.SIZE_BYTES), "slot " + slot);
        }
        slab.release();
    }
}
