package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.internal.poller.SlotRing;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CompletionRingTest {
    private static final int CAPACITY = 8;

    private final CompletionRing ring =
        new CompletionRing(new UnsafeBuffer(ByteBuffer.allocateDirect(CAPACITY * IbvWc.SIZE_BYTES)), CAPACITY);

    @Test
    void shouldAdvanceTheCursorBeforeSignalling() {
        final List<Long> seen = new ArrayList<>();
        ring.gate(List.of(new Sequence()), List.of(signalled(() -> seen.add(ring.cursor().get()))));
        assertEquals(4, ring.claim(4));
        ring.publish(3, 0);
        ring.publish(1, 0);
        assertEquals(List.of(2L, 3L), seen);
    }

    @Test
    void shouldReportAHaltConsistentlyWithItsClaims() {
        ring.gate(List.of(new Sequence()), List.of());
        assertFalse(ring.isHalted());
        assertEquals(1, ring.claim(1));
        ring.halt();
        assertTrue(ring.isHalted());
        assertEquals(SlotRing.HALTED, ring.claim(1));
    }

    @Test
    void shouldClaimUpToTheLimitAndTheEndOfTheSlab() {
        final Sequence passed = new Sequence(-1);
        ring.gate(List.of(passed), List.of());
        for (long published = -1; published < 3 * CAPACITY; published++) {
            final int untilEnd = CAPACITY - (int) ((published + 1) % CAPACITY);
            for (int limit = 1; limit <= 2 * CAPACITY; limit++) {
                assertEquals(Math.min(limit, untilEnd), ring.claim(limit));
            }
            assertEquals((published + 1) % CAPACITY * IbvWc.SIZE_BYTES, ring.claimedOffset());
            ring.publish(1, 0);
            passed.set(published + 1);
        }
    }

    @Test
    void shouldClaimWhatTheSlowestHandlerHasPassed() {
        final Sequence fast = new Sequence(-1);
        final Sequence slow = new Sequence(-1);
        ring.gate(List.of(fast, slow), List.of());
        ring.publish(CAPACITY, 0);
        fast.set(CAPACITY - 1);
        assertEquals(0, ring.claim(CAPACITY));
        for (int passed = 0; passed < CAPACITY; passed++) {
            slow.set(passed);
            assertEquals(passed + 1, ring.claim(CAPACITY));
            assertEquals(1, ring.claim(1));
            assertEquals(passed, ring.minimumGatingSequence(CAPACITY - 1));
            assertEquals(CAPACITY - 1 - passed, ring.occupancy());
        }
        assertEquals(3, ring.minimumGatingSequence(3));
    }

    @Test
    void shouldMarkAFaultBeforeItIsPublished() {
        final List<Long> marked = new ArrayList<>();
        final CompletionSlab slab = new CompletionSlab(CAPACITY);
        final CompletionRing marking = new CompletionRing(slab);
        marking.gate(List.of(new Sequence()), List.of(signalled(() -> marked.add(slab.faults().last()))));
        marking.publish(2, 0);
        marking.publishFault(0);
        marking.publish(1, 0);
        assertEquals(List.of(-1L, 2L, 2L), marked);
        assertEquals(3, marking.cursor().get());
        assertEquals(CAPACITY, marking.capacity());
        for (long sequence = 0; sequence < 2 * CAPACITY; sequence++) {
            assertEquals(sequence == 2, slab.faults().contains(sequence));
        }
        slab.release();
    }

    private static WaitStrategy signalled(final Runnable action) {
        return new WaitStrategy() {
            @Override
            public long waitFor(
                final long sequence, final Sequence cursor, final Sequence dependentSequence, final SequenceBarrier barrier) {
                throw new AssertionError("nobody waits");
            }

            @Override
            public void signalAllWhenBlocking() {
                action.run();
            }
        };
    }
}
