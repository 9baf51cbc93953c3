package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.internal.poller.SlotRing;
import io.ringpoll.verbs.IbvWc;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class CompletionRingTest {
    private static final int CAPACITY = 8;

    private final CompletionRing ring =
        new CompletionRing(new UnsafeBuffer(ByteBuffer.allocateDirect(CAPACITY * IbvWc.SIZE_BYTES)), CAPACITY);

    @Test
    void shouldAdvanceTheCursorBeforeSignalling() {
        final List<Long> seen = new ArrayList<>();
        ring.gate(List.of(new Sequence()), List.of(signalled(() -> seen.add(ring.cursor().get()))));
        assertEquals(4, ring.claim(4));
        ring.publish(3);
        ring.publish(1);
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
