package io.ringpoll.internal.poller;

import static io.ringpoll.internal.poller.Waiting.await;
import static io.ringpoll.internal.poller.Waiting.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.ScriptedQueue;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

/** Calls in each state, as the table of {@link PollerState} defines them; a separate thread runs the duty cycles. */
@Timeout(60)
class PollerStateTest {
    private static final long FOREVER_NS = Long.MAX_VALUE;

    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, 4, counters);
    private final PollerLoop loop = new PollerLoop(poller, new NoOpIdleStrategy(), -1, error -> { });
    private final Thread thread = Thread.ofPlatform().daemon().unstarted(() -> {
        loop.onStart();
        holdInOnce();
        loop.run();
    });
    private final ScriptedQueue queue = new ScriptedQueue("a").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
    private volatile boolean held;

    @AfterEach
    void stop() throws InterruptedException {
        held = false;
        loop.stop();
        if (thread.isAlive()) {
            awaitEnd(thread);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReportItsState(final PollerState state) throws Exception {
        enter(state);
        assertEquals(state, poller.state());
    }

    @ParameterizedTest
    @EnumSource(names = {"NEW", "RUNNING", "PAUSED"})
    void shouldPollAQueueThatIsAdded(final PollerState state) throws Exception {
        enter(state);
        assertEquals(0, poller.queues().add(queue));
        if (state == PollerState.NEW) {
            thread.start();
        } else if (state == PollerState.PAUSED) {
            poller.pause(deadline());
            assertEquals(0, queue.polls());
            poller.resume(deadline());
        }
        await(() -> slots.published() == 1);
    }

    @ParameterizedTest
    @EnumSource(names = {"HALTED", "STOPPING", "ENDED"})
    void shouldRejectAQueueThatWouldNeverBePolled(final PollerState state) throws Exception {
        enter(state);
        assertEquals("a cannot be added: the poller " + state.predicate(),
            assertThrows(IllegalStateException.class, () -> poller.queues().add(queue)).getMessage());
        assertEquals(0, poller.queues().size());
        end();
        assertEquals(List.of(), poller.queues().remaining());
        assertEquals(0, queue.polls());
    }

    @ParameterizedTest
    @EnumSource
    void shouldRemoveAQueue(final PollerState state) throws Exception {
        poller.queues().add(queue);
        enter(state);
        held = false;
        poller.queues().remove(queue, FOREVER_NS);
        final long polls = queue.polls();
        poller.queues().remove(queue, 0);
        assertEquals(0, poller.queues().size());
        end();
        assertEquals(polls, queue.polls());
        assertEquals(List.of(), poller.queues().remaining());
    }

    @ParameterizedTest
    @EnumSource
    void shouldIgnoreRemovalOfAnUnknownQueue(final PollerState state) throws Exception {
        enter(state);
        poller.queues().remove(queue, 0);
    }

    @ParameterizedTest
    @EnumSource
    void shouldPublishAFaultOnlyInPublishingStates(final PollerState state) throws Exception {
        final ScriptedQueue empty = new ScriptedQueue("empty");
        poller.queues().add(empty);
        enter(state);
        poller.queues().reportFault(empty, -9);
        switch (state) {
            case NEW -> thread.start();
            case PAUSED -> poller.resume(deadline());
            default -> { }
        }
        if (state == PollerState.NEW || state == PollerState.RUNNING || state == PollerState.PAUSED) {
            await(() -> slots.published() == 1);
            assertEquals(-9, slots.get(0).vendorError());
        }
        end();
        assertEquals(List.of(), poller.queues().remaining());
        assertEquals(state.isFinal() ? 0 : 1, slots.published());
    }

    @ParameterizedTest
    @EnumSource
    void shouldPause(final PollerState state) throws Exception {
        poller.queues().add(queue);
        enter(state);
        held = false;
        poller.pause(Deadline.after(FOREVER_NS));
        assertTrue(poller.isPaused());
        final long polls = queue.polls();
        if (state == PollerState.NEW) {
            thread.start();
            await(() -> poller.state() == PollerState.PAUSED);
        }
        end();
        assertEquals(polls, queue.polls());
    }

    @ParameterizedTest
    @EnumSource(names = {"NEW", "RUNNING", "PAUSED"})
    void shouldResume(final PollerState state) throws Exception {
        enter(state);
        poller.pause(deadline());
        poller.queues().add(queue);
        poller.resume(deadline());
        assertFalse(poller.isPaused());
        if (state == PollerState.NEW) {
            thread.start();
        }
        await(() -> slots.published() == 1);
    }

    @ParameterizedTest
    @EnumSource(names = {"HALTED", "STOPPING", "ENDED"})
    void shouldNotResumeAPollerThatWillNeverPublish(final PollerState state) throws Exception {
        enter(state);
        assertEquals("the poller cannot resume: it " + state.predicate(),
            assertThrows(TimeoutException.class, () -> poller.resume(Deadline.after(FOREVER_NS))).getMessage());
    }

    @ParameterizedTest
    @EnumSource(names = {"NEW", "RUNNING"})
    void shouldCompleteAWaitForAnEmptyRound(final PollerState state) throws Exception {
        poller.queues().add(queue);
        enter(state);
        final CompletableFuture<Void> empty = emptyRound();
        if (state == PollerState.NEW) {
            thread.start();
        }
        empty.get();
        assertEquals(1, slots.published());
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = {"NEW", "RUNNING"})
    void shouldNotWaitForAnEmptyRoundThatCannotOccur(final PollerState state) throws Exception {
        poller.queues().add(queue);
        enter(state);
        held = false;
        assertNoEmptyRound(emptyRound(), state == PollerState.STOPPING ? PollerState.ENDED : state);
    }

    @ParameterizedTest
    @EnumSource(mode = Mode.EXCLUDE, names = {"NEW", "RUNNING"})
    void shouldFailAWaitForAnEmptyRoundThatCanNoLongerOccur(final PollerState state) throws Exception {
        final ArraySlots full = new ArraySlots(64, 0);
        final CompletionPoller stalled = new CompletionPoller("poller", full, 4, counters);
        stalled.queues().add(queue);
        stalled.onStart();
        final CompletableFuture<Void> empty = emptyRound(stalled);
        await(() -> stalled.commands().hasPending());
        stalled.doWork();
        assertEquals(CompletionPoller.Outcome.RING_FULL, stalled.outcome());
        assertEquals(1, stalled.awaitingEmptyRound());
        switch (state) {
            case PAUSED -> stalled.pause(deadline());
            case HALTED -> full.halt();
            default -> stalled.commands().stop();
        }
        stalled.doWork();
        if (state == PollerState.STOPPING || state == PollerState.ENDED) {
            stalled.onClose();
        }
        assertNoEmptyRound(empty, state == PollerState.STOPPING ? PollerState.ENDED : state);
        assertEquals(0, stalled.awaitingEmptyRound());
    }

    @Test
    void shouldNotReportAnEmptyRoundWithoutQueuesAfterAHalt() throws Exception {
        enter(PollerState.HALTED);
        assertNoEmptyRound(emptyRound(), PollerState.HALTED);
    }

    @Test
    void shouldFailAWaitForAnEmptyRoundWhenAHandlerHaltsBeforeARoundWithoutQueues() throws Exception {
        poller.onStart();
        final CompletableFuture<Void> empty = emptyRound();
        await(() -> poller.commands().hasPending());
        // After the wait's command, in the same duty cycle.
        Thread.ofPlatform().start(() -> submit(new PollerCommand(slots::halt))).join();
        assertEquals(0, poller.doWork());
        assertNoEmptyRound(empty, PollerState.HALTED);
        assertEquals(0, poller.awaitingEmptyRound());
    }

    @Test
    void shouldRetainNothingOfACompletedWait() throws Exception {
        poller.onStart();
        final CompletableFuture<Void> empty = emptyRound();
        await(() -> poller.commands().hasPending());
        assertEquals(0, poller.doWork());
        empty.get();
        assertEquals(0, poller.awaitingEmptyRound());
    }

    @Test
    void shouldNotWaitForItselfOnThePollingThread() {
        poller.onStart();
        assertEquals("the polling thread cannot wait for its own round",
            assertThrows(IllegalStateException.class, () -> poller.awaitEmptyRound(deadline())).getMessage());
    }

    @Test
    void shouldRetainNothingOfTimedOutWaits() throws Exception {
        final ArraySlots full = new ArraySlots(64, 0);
        final CompletionPoller stalled = new CompletionPoller("poller", full, 4, counters);
        stalled.queues().add(queue);
        for (int i = 0; i < 100; i++) {
            assertThrows(TimeoutException.class, () -> stalled.awaitEmptyRound(Deadline.after(0)));
        }
        assertEquals(1, stalled.awaitingEmptyRound());
    }

    @Test
    void shouldRejectASecondStart() throws Exception {
        enter(PollerState.RUNNING);
        assertEquals("the poller is running", assertThrows(IllegalStateException.class, poller::onStart).getMessage());
        end();
        assertEquals("the poller has ended", assertThrows(IllegalStateException.class, poller::onStart).getMessage());
    }

    @Test
    void shouldEndAtStartWhenStoppedBefore() throws Exception {
        poller.queues().add(queue);
        loop.stop();
        assertThrows(IllegalStateException.class, () -> poller.queues().add(new ScriptedQueue("b")));
        thread.start();
        awaitEnd(thread);
        assertEquals(PollerState.ENDED, poller.state());
        assertEquals(0, queue.polls());
        assertEquals(List.of(queue), poller.queues().remaining());
    }

    @Test
    void shouldEndOnceWhenClosedTwice() throws Exception {
        poller.queues().add(queue);
        poller.onClose();
        poller.onClose();
        assertEquals(PollerState.ENDED, poller.state());
        assertEquals(List.of(queue), poller.queues().remaining());
        poller.queues().remove(queue, 0);
        assertEquals(List.of(), poller.queues().remaining());
    }

    private void enter(final PollerState state) throws Exception {
        held = state == PollerState.STOPPING;
        if (state != PollerState.NEW) {
            thread.start();
            await(() -> poller.state() == PollerState.RUNNING);
        }
        switch (state) {
            case PAUSED -> poller.pause(deadline());
            case HALTED -> slots.halt();
            case STOPPING -> loop.stop();
            case ENDED -> end();
            default -> { }
        }
    }

    /** Blocks the thread before its first duty cycle until the test releases it. */
    private void holdInOnce() {
        while (held) {
            Thread.onSpinWait();
        }
    }

    private void end() throws InterruptedException {
        held = false;
        loop.stop();
        if (thread.getState() == Thread.State.NEW) {
            thread.start();
        }
        awaitEnd(thread);
    }

    private CompletableFuture<Void> emptyRound() {
        return emptyRound(poller);
    }

    private void submit(final PollerCommand command) {
        try {
            poller.commands().submit(command, deadline());
        } catch (final TimeoutException full) {
            throw new AssertionError(full);
        }
    }

    private static CompletableFuture<Void> emptyRound(final CompletionPoller awaited) {
        final CompletableFuture<Void> found = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            try {
                awaited.awaitEmptyRound(Deadline.after(FOREVER_NS));
                found.complete(null);
            } catch (final TimeoutException none) {
                found.completeExceptionally(none);
            }
        });
        return found;
    }

    private static void assertNoEmptyRound(final CompletableFuture<Void> empty, final PollerState state) {
        assertEquals("the poller cannot complete an empty round: it " + state.predicate(),
            assertThrows(ExecutionException.class, empty::get).getCause().getMessage());
    }

    private static Deadline deadline() {
        return Deadline.after(FOREVER_NS);
    }
}
