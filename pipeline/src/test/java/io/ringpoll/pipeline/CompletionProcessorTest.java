package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.QueueFault;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A handler's loop on the thread of the test: the slots are published, and its end is requested, before it starts. */
@Timeout(60)
class CompletionProcessorTest {
    private static final int SLOTS = 16;

    private final CompletionSlab slab = new CompletionSlab(SLOTS);
    private final HandlerCounters counters = new HandlerCounters(
        new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024)), new UnsafeBuffer(ByteBuffer.allocateDirect(4 * 1024))),
        "handler");
    private final Sequence cursor = new Sequence(-1);
    private final StartGate gate = new StartGate();
    private final RecordingContext context = new RecordingContext();
    private final FailingHandler handler = new FailingHandler();
    private int batchLimit = SLOTS;

    @AfterEach
    void free() {
        slab.release();
    }

    @Test
    void shouldHandleThePublishedSlotsBeforeItsEnd() {
        gate.expect("handler");
        cursor.set(4);
        final CompletionProcessor processor = endingAfter(4);
        processor.run();
        assertEquals(List.of("start", "0", "1", "2", "3", "4 end", "shutdown"), handler.calls);
        assertEquals(4, processor.position());
        assertEquals(5, counters.handled.get());
        assertEquals(5, counters.position.get());
        assertEquals(5, counters.lagMax.get());
        assertEquals(HandlerCounters.STATE_ENDED, counters.state.get());
        assertFalse(processor.hasHalted());
        gate.await(Deadline.after(0));
    }

    @Test
    void shouldEndWithoutASlotIfItsEndIsBeforeTheFirst() {
        cursor.set(4);
        endingAfter(-1).run();
        assertEquals(List.of("start", "shutdown"), handler.calls);
    }

    @Test
    void shouldNotHandleSlotsAfterItsEnd() {
        cursor.set(9);
        endingAfter(3).run();
        assertEquals(List.of("start", "0", "1", "2", "3 end", "shutdown"), handler.calls);
    }

    @Test
    void shouldHandleAtMostItsLimitInABatch() {
        batchLimit = 2;
        cursor.set(4);
        final CompletionProcessor processor = endingAfter(4);
        final Counting first = new Counting();
        final Counting second = new Counting();
        processor.signal(new WaitStrategy[]{first, second});
        processor.run();
        assertEquals(List.of("start", "0", "1 end", "2", "3 end", "4 end", "shutdown"), handler.calls);
        assertEquals(5, counters.lagMax.get(), "published when the first batch began");
        assertEquals(3, first.signals);
        assertEquals(3, second.signals);
    }

    @Test
    void shouldEndTheBatchBeforeAFaultAndAfterIt() {
        cursor.set(4);
        slab.buffer().putInt(2 * IbvWc.SIZE_BYTES + IbvWc.STATUS_OFFSET, QueueFault.STATUS);
        slab.buffer().putInt(2 * IbvWc.SIZE_BYTES + IbvWc.VENDOR_ERR_OFFSET, -9);
        slab.faults().mark(2);
        endingAfter(4).run();
        assertEquals(List.of("start", "0", "1 end", "fault -9", "3", "4 end", "shutdown"), handler.calls);
        assertEquals(5, counters.handled.get());
    }

    @Test
    void shouldHandleAFaultThatIsTheFirstSlot() {
        cursor.set(1);
        slab.buffer().putInt(IbvWc.STATUS_OFFSET, QueueFault.STATUS);
        slab.faults().mark(0);
        endingAfter(1).run();
        assertEquals(List.of("start", "fault 0", "1 end", "shutdown"), handler.calls);
    }

    @Test
    void shouldHaltAtTheFailedSlotAndReportIt() {
        cursor.set(4);
        handler.failsAt = 2;
        final CompletionProcessor processor = endingAfter(4);
        final Counting next = new Counting();
        processor.signal(new WaitStrategy[]{next});
        processor.run();
        assertEquals(List.of("start", "0", "1", "2", "shutdown"), handler.calls);
        assertTrue(processor.hasHalted());
        assertEquals(2, processor.position());
        assertEquals(3, counters.handled.get());
        assertEquals(3, counters.position.get());
        assertEquals(1, counters.exceptions.get());
        assertEquals(HandlerCounters.STATE_HALTED, counters.state.get());
        assertEquals(1, next.signals);
        assertEquals(List.of("handler"), context.halted);
        assertSame(handler.failure, context.cause);
    }

    @Test
    void shouldHaltOnAFailureOutsideTheHandler() {
        final IllegalStateException broken = new IllegalStateException("broken");
        final WaitStrategy breaking = new Counting() {
            @Override
            public long waitFor(
                final long sequence, final Sequence published, final Sequence dependent, final SequenceBarrier barrier) {
                throw broken;
            }
        };
        final CompletionProcessor processor = new CompletionProcessor(
            config(), slab, new HandlerBarrier(cursor, cursor, breaking), counters, context, gate);
        processor.run();
        assertTrue(processor.hasHalted());
        assertSame(broken, context.cause);
        assertEquals(List.of(broken), context.logged);
        assertEquals(1, counters.exceptions.get());
    }

    @Test
    void shouldRecordAnExceptionAtItsShutdown() {
        handler.failsAtShutdown = true;
        endingAfter(-1).run();
        assertEquals(List.of(handler.failure), context.logged);
        assertEquals(HandlerCounters.STATE_ENDED, counters.state.get());
    }

    @Test
    void shouldReportThatItCannotStart() {
        gate.expect("handler");
        handler.failsAtStart = true;
        cursor.set(4);
        final CompletionProcessor processor = endingAfter(4);
        processor.run();
        assertEquals(List.of("start"), handler.calls);
        assertEquals(0, counters.state.get());
        assertSame(handler.failure,
            assertThrows(PipelineStartException.class, () -> gate.await(Deadline.after(0))).getCause());
        assertEquals(-1, processor.position());
    }

    @Test
    void shouldEndTheUseOfTheSlabThoughItsFailureCannotBeReported() {
        cursor.set(4);
        handler.failsAt = 2;
        context.toThrow = new IllegalStateException("unreported");
        final CompletionProcessor processor = endingAfter(4);
        assertSame(context.toThrow, assertThrows(IllegalStateException.class, processor::run));
        assertThrows(IllegalStateException.class, handler.flyweight::workRequestId);
        assertThrows(IllegalStateException.class, () -> handler.slots.releaseThrough(3));
    }

    @Test
    void shouldEndTheUseOfTheSlabAtItsEnd() {
        cursor.set(4);
        handler.failsAt = 2;
        final CompletionProcessor processor = endingAfter(4);
        processor.run();
        assertThrows(IllegalStateException.class, handler.flyweight::workRequestId);
        assertEquals("slot 3 is not in the current batch, 3 to 2",
            assertThrows(IllegalStateException.class, () -> handler.slots.releaseThrough(3)).getMessage());
    }

    private CompletionProcessor endingAfter(final long last) {
        final CompletionProcessor processor = new CompletionProcessor(
            config(), slab, new HandlerBarrier(cursor, cursor, new Counting()), counters, context, gate);
        processor.stopAfter(last);
        return processor;
    }

    private HandlerConfig config() {
        return new HandlerConfig("handler", EnumSet.allOf(CompletionPath.class), handler, false, List.of(), null, null,
            FailurePolicy.HALT, Pinning.ANY_CPU, batchLimit, 0, 0);
    }

    /** Returns the published sequence, and counts its signals. */
    private static class Counting implements WaitStrategy {
        private int signals;

        @Override
        public long waitFor(
            final long sequence, final Sequence published, final Sequence dependent, final SequenceBarrier barrier) {
            return dependent.get();
        }

        @Override
        public void signalAllWhenBlocking() {
            signals++;
        }
    }
}
