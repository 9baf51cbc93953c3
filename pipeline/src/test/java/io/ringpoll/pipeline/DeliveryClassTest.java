package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.poller.QueueAttachments;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.agrona.ErrorHandler;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DeliveryClassTest {
    private static final int SLOTS = 8;

    private final CompletionSlab slab = new CompletionSlab(SLOTS);
    private final List<Long> seen = new ArrayList<>();

    @AfterEach
    void free() {
        slab.release();
    }

    @Test
    void shouldCompileTheLoopPerHandlerClass() {
        final CompletionHandler first = (completion, sequence, endOfBatch) -> seen.add(sequence);
        final CompletionHandler second = (completion, sequence, endOfBatch) -> seen.add(-sequence);
        assertNotSame(delivery(first).getClass(), delivery(second).getClass());
        assertNotSame(SingleDelivery.class, delivery(first).getClass());
        final BatchHandler inBatches = batch -> seen.add((long) batch.size());
        final BatchHandler otherInBatches = batch -> seen.add(-1L);
        assertNotSame(delivery(inBatches, true).getClass(), delivery(otherInBatches, true).getClass());
    }

    @Test
    void shouldReuseCompiledCodeForTheNextHandlerOfTheClass() {
        assertSame(delivery(new Counting()).getClass(), delivery(new Counting()).getClass());
    }

    @Test
    void shouldDeliverAcrossTheEndOfTheSlabInTheHandlersOwnClass() throws Exception {
        for (int slot = 0; slot < SLOTS; slot++) {
            slab.buffer().putLong(slot * IbvWc.SIZE_BYTES + IbvWc.WR_ID_OFFSET, slot);
            slab.buffer().putInt(slot * IbvWc.SIZE_BYTES + IbvWc.STATUS_OFFSET,
                slot % 2 == 0 ? WcStatus.SUCCESS : WcStatus.WR_FLUSH_ERR);
        }
        final List<Long> last = new ArrayList<>();
        final Delivery delivery = delivery((completion, sequence, endOfBatch) -> {
            seen.add(completion.workRequestId());
            if (endOfBatch) {
                last.add(sequence);
            }
        });
        assertEquals(3, delivery.deliver(SLOTS - 3, SLOTS + 2));
        assertEquals(List.of(6L, 0L, 2L), seen);
        assertEquals(List.of(SLOTS + 2L), last);
        assertEquals(1, delivery.deliver(SLOTS + 4, SLOTS + 4));
        assertEquals(0, delivery.deliver(SLOTS + 5, SLOTS + 5));
        assertEquals(List.of(SLOTS + 2L, SLOTS + 4L), last);
        assertTrue(delivery.getClass().isHidden());
    }

    private Delivery delivery(final CompletionHandler handler) {
        return delivery(handler, false);
    }

    private Delivery delivery(final HandlerLifecycle handler, final boolean inBatches) {
        final ErrorHandler errorLog = failure -> {
            throw new AssertionError(failure);
        };
        final HandlerConfig config = new HandlerConfig("handler", EnumSet.of(CompletionPath.SEND_WRITE), handler, inBatches,
            List.of(), null, null, FailurePolicy.HALT, -1, SLOTS, 0, 0);
        return DeliveryClass.newDelivery(config, slab, new HandlerFailures(config, null, errorLog), new NoContext(errorLog));
    }

    private record NoContext(ErrorHandler errorLog) implements HandlerContext {
        @Override
        public String queueName(final int queueIndex) {
            return "queue " + queueIndex;
        }

        @Override
        public boolean hasTimestamps(final int queueIndex) {
            return false;
        }

        @Override
        public QueueAttachments attachments() {
            return new QueueAttachments();
        }

        @Override
        public void onHandlerHalted(final String roleName, final Throwable failure) {
            throw new AssertionError(failure);
        }
    }

    /** One class for two handlers. */
    private static final class Counting implements CompletionHandler {
        private long count;

        @Override
        public void onCompletion(
            final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            count++;
        }
    }
}
