package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.poller.SlotRing;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers on the polling thread, and their ring, on the thread of the test. */
@Timeout(60)
class InPlaceHandlerTest {
    private static final int SLOTS = 8;

    private final CompletionSlab slab = new CompletionSlab(SLOTS);
    private final CountersManager counters = new CountersManager(
        new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024)), new UnsafeBuffer(ByteBuffer.allocateDirect(4 * 1024)));
    private final RecordingContext context = new RecordingContext();
    private final FailingHandler first = new FailingHandler();
    private final FailingHandler second = new FailingHandler();

    @AfterEach
    void free() {
        slab.release();
    }

    @Test
    void shouldHandleEachBatchBeforeThePublicationReturns() throws Exception {
        final InPlaceHandler handler = handler("first", first);
        final RunToCompletionRing ring = new RunToCompletionRing(slab, List.of(handler, handler("second", second)));
        handler.start();
        ring.publish(2, 0);
        ring.publish(3, 0);
        assertEquals(List.of("start", "0", "1 end", "2", "3", "4 end"), first.calls);
        assertEquals(List.of("0", "1 end", "2", "3", "4 end"), second.calls);
        assertEquals(4, ring.cursor().get());
        assertEquals(4, ring.gatingSequence().get());
        assertEquals(4, ring.minimumGatingSequence(7));
        assertEquals(3, ring.minimumGatingSequence(3));
        assertEquals(5, handler.counters().handled.get());
        assertEquals(5, handler.counters().position.get());
        assertEquals(3, handler.counters().lagMax.get());
        assertEquals(HandlerCounters.STATE_RUNNING, handler.counters().state.get());
    }

    @Test
    void shouldClaimUpToTheLimitAndTheEndOfTheSlab() {
        final RunToCompletionRing ring = new RunToCompletionRing(slab, List.of());
        for (int published = 0; published < 3 * SLOTS; published++) {
            for (int limit = 1; limit < 2 * SLOTS; limit++) {
                assertEquals(Math.min(limit, SLOTS - published % SLOTS), ring.claim(limit));
            }
            assertEquals(published % SLOTS * IbvWc.SIZE_BYTES, ring.claimedOffset());
            ring.publish(1, 0);
        }
        assertSame(slab.buffer(), ring.slab());
        assertFalse(ring.isHalted());
        ring.halt();
        assertTrue(ring.isHalted());
        assertEquals(SlotRing.HALTED, ring.claim(1));
    }

    @Test
    void shouldGateAtTheHandlerThatHalts() throws Exception {
        first.failsAt = 1;
        final InPlaceHandler handler = handler("first", first);
        final RunToCompletionRing ring = new RunToCompletionRing(slab, List.of(handler, handler("second", second)));
        handler.start();
        ring.publish(4, 0);
        assertEquals(List.of("start", "0", "1", "shutdown"), first.calls);
        assertEquals(List.of("0", "1", "2", "3 end"), second.calls);
        assertEquals(1, ring.gatingSequence().get());
        assertEquals(2, handler.counters().handled.get());
        assertEquals(2, handler.counters().position.get());
        assertEquals(HandlerCounters.STATE_HALTED, handler.counters().state.get());
        assertEquals(List.of("first"), context.halted);
        assertSame(first.failure, context.cause);
        assertThrows(IllegalStateException.class, first.flyweight::workRequestId);
        handler.end();
        assertEquals(List.of("start", "0", "1", "shutdown"), first.calls);
        assertEquals(HandlerCounters.STATE_HALTED, handler.counters().state.get());
    }

    @Test
    void shouldPassNoSlotOfABatchThatFailsOutsideTheHandler() throws Exception {
        final InPlaceHandler handler = handler("first", first);
        handler.start();
        handler.handle(0, 2, 0);
        first.failsAt = 4;
        context.logFailure = new IllegalStateException("log");
        final RuntimeException thrown = context.logFailure;
        assertEquals(2, handler.handle(3, 5, 0));
        assertEquals(List.of(thrown), context.logged);
        assertEquals(List.of("first"), context.halted);
        assertSame(thrown, context.cause);
        assertEquals(HandlerCounters.STATE_HALTED, handler.counters().state.get());
        assertEquals("shutdown", first.calls.getLast());
    }

    @Test
    void shouldShutDownAtItsEndIfItHasStarted() throws Exception {
        final InPlaceHandler handler = handler("first", first);
        handler.end();
        assertEquals(List.of(), first.calls);
        assertEquals(0, handler.counters().state.get());
        handler.start();
        handler.handle(0, 0, 0);
        first.failsAtShutdown = true;
        handler.end();
        assertEquals(List.of("start", "0 end", "shutdown"), first.calls);
        assertEquals(HandlerCounters.STATE_ENDED, handler.counters().state.get());
        assertEquals(List.of(first.failure), context.logged);
        assertThrows(IllegalStateException.class, first.flyweight::workRequestId);
    }

    @Test
    void shouldNameTheHandlerThatCannotStart() {
        first.failsAtStart = true;
        final InPlaceHandler handler = handler("first", first);
        final HandlerNotStarted failed = assertThrows(HandlerNotStarted.class, handler::start);
        assertEquals("first", failed.roleName());
        assertSame(first.failure, failed.getCause());
        assertEquals(0, handler.counters().state.get());
        handler.end();
        assertEquals(List.of("start"), first.calls);
    }

    @Test
    void shouldIdentifyTheQueueOfEachBatchAndOfNoRecordOutsideOfTheRing() {
        final InPlaceSource source = new InPlaceSource(slab, context);
        final long firstRecord = slab.buffer().addressOffset();
        final long lastRecord = firstRecord + (SLOTS - 1) * IbvWc.SIZE_BYTES;
        source.start();
        source.beginBatch(3);
        assertEquals(3, source.queueIndex(firstRecord));
        source.beginBatch(65_535);
        assertEquals(65_535, source.queueIndex(lastRecord));
        assertThrows(IllegalStateException.class, () -> source.queueIndex(firstRecord - IbvWc.SIZE_BYTES));
        assertThrows(IllegalStateException.class, () -> source.attachment(lastRecord + IbvWc.SIZE_BYTES));
    }

    @Test
    void shouldHoldNoSlot() {
        final InPlaceHandler handler = handler("first", first);
        final String refusal = "slot 0 is not held: handlers on the poller's thread hold none";
        handler.handle(0, 0, 0);
        assertFalse(handler.hold(0));
        assertEquals(0, handler.held());
        assertEquals(refusal,
            assertThrows(IllegalStateException.class, () -> handler.view(0, new WorkCompletion())).getMessage());
        assertEquals(refusal, assertThrows(IllegalStateException.class, () -> handler.release(0)).getMessage());
    }

    @Test
    void shouldEndTheHandlersInTheirOrderAndFindThemByName() throws Exception {
        final RunToCompletionHandlers handlers =
            new RunToCompletionHandlers(List.of(config("first", first), config("second", second)), slab, counters, context);
        assertEquals(0, handlers.indexOf("first"));
        assertEquals(1, handlers.indexOf("second"));
        assertEquals(-1, handlers.indexOf("third"));
        assertEquals(2, handlers.counters().size());
        assertFalse(handlers.haveOthersPassed(0));
        handlers.onPollerStart();
        assertTrue(handlers.haveOthersPassed(0), "the polling thread does not wait for itself");
        handlers.ring().publish(1, 0);
        handlers.onPollerEnd();
        assertEquals(List.of("start", "0 end", "shutdown"), first.calls);
        assertEquals(List.of("start", "0 end", "shutdown"), second.calls);
    }

    private InPlaceHandler handler(final String name, final CompletionHandler handler) {
        return new InPlaceHandler(config(name, handler), slab, new HandlerCounters(counters, name), context);
    }

    private static HandlerConfig config(final String name, final CompletionHandler handler) {
        return new HandlerConfig(name, EnumSet.allOf(CompletionPath.class), handler, false, List.of(), null, null,
            FailurePolicy.HALT, Pinning.ANY_CPU, SLOTS, 0, 0);
    }
}
