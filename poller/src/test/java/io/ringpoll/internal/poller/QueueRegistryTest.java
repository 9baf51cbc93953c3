package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.ScriptedQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class QueueRegistryTest {
    /** Runs each action on a new thread. */
    private static final Executor ASYNC = action -> Thread.ofPlatform().daemon().start(action);

    private final ArraySlots slots = new ArraySlots(64, 64);
    private final CompletionPoller poller =
        new CompletionPoller("poller", slots, 4, new PollerCounterSet(TestCounters.create(), "poller"));
    /** The poller with in-place handlers. */
    private CompletionPoller self;

    @Test
    void shouldNotPollARemovedQueue() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        poller.queues().remove(queue, 1);
        assertEquals(0, poller.doWork());
        assertEquals(1, queue.size());
        assertEquals(0, poller.queues().size());
    }

    @Test
    void shouldRefuseAQueueThatAnotherPollerPolls() throws TimeoutException {
        final CompletionPoller other =
            new CompletionPoller("other", new ArraySlots(64, 64), 4, new PollerCounterSet(TestCounters.create(), "other"));
        final ScriptedQueue queue = queueOfOne();
        other.queues().add(queue);
        final IllegalStateException refused = assertThrows(IllegalStateException.class, () -> poller.queues().add(queue));
        assertEquals("a is already polled by other: a queue has one poller; remove it there first", refused.getMessage());
        assertEquals(0, poller.queues().size());
        other.queues().remove(queue, 1);
        poller.queues().add(queue);
        assertThrows(IllegalStateException.class, () -> other.queues().add(queue));
        poller.onClose();
        other.queues().add(queue);
        assertEquals(1, other.queues().size());
        other.onClose();
    }

    @Test
    void shouldTakeAQueueOverFromAPollerThatHasHalted() {
        final ArraySlots halted = new ArraySlots(64, 64);
        final CompletionPoller other =
            new CompletionPoller("other", halted, 4, new PollerCounterSet(TestCounters.create(), "other"));
        final ScriptedQueue queue = queueOfOne();
        other.queues().add(queue);
        halted.halt();
        poller.queues().add(queue);
        assertEquals(0, other.queues().size());
        assertEquals(1, poller.queues().size());
    }

    @Test
    void shouldRefuseAViewOfAQueueThatIsPolled() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        final CompletionQueue view = new ScriptedQueue("view").viewOf(queue);
        poller.queues().add(queue);
        final IllegalStateException refused = assertThrows(IllegalStateException.class, () -> poller.queues().add(view));
        assertEquals("view is already polled, as a: a queue has one poller; remove it there first", refused.getMessage());
        poller.queues().remove(queue, 1);
        poller.queues().add(view);
        assertThrows(IllegalStateException.class, () -> poller.queues().add(queue));
    }

    @Test
    void shouldRetainNeitherAPollerNorAQueueByItsClaim() throws InterruptedException {
        final ScriptedQueue queue = queueOfOne();
        awaitCollection(forgottenPollerOf(queue));
        poller.queues().add(queue);
        final int claims = QueueClaims.size();
        awaitCollection(forgottenPollerOf(queueOfOne()));
        while (QueueClaims.size() > claims) {
            Thread.sleep(1);
        }
    }

    private static WeakReference<CompletionPoller> forgottenPollerOf(final CompletionQueue queue) {
        final CompletionPoller other =
            new CompletionPoller("forgotten", new ArraySlots(64, 64), 4, new PollerCounterSet(TestCounters.create(), "other"));
        other.queues().add(queue);
        return new WeakReference<>(other);
    }

    private static void awaitCollection(final WeakReference<?> reference) throws InterruptedException {
        while (!reference.refersTo(null)) {
            System.gc();
            Thread.sleep(1);
        }
    }

    @Test
    void shouldNameTheEndOfThePollerAlsoForAQueueThatItHad() {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        poller.onClose();
        final IllegalStateException refused = assertThrows(IllegalStateException.class, () -> poller.queues().add(queue));
        assertEquals("a cannot be added: the poller has ended", refused.getMessage());
    }

    @Test
    void shouldReuseAnIndexOnlyAfterAllOthers() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        for (int i = 0; i < 3; i++) {
            assertEquals(i, poller.queues().add(queue));
            poller.queues().remove(queue, 1);
        }
    }

    @Test
    void shouldSkipIndexesInUseWhenAllHaveBeenUsed() throws TimeoutException {
        poller.queues().add(queueOfOne());
        poller.queues().add(new ScriptedQueue("b"));
        final ScriptedQueue queue = new ScriptedQueue("c");
        for (int i = 2; i < QueueRegistry.MAX_QUEUES; i++) {
            poller.queues().add(queue);
            poller.queues().remove(queue, 1);
        }
        assertEquals(2, poller.queues().add(queue));
    }

    @Test
    void shouldNotReuseAnIndexBeforeTheCompletionsOfItsQueueArePassed() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        assertEquals(0, poller.queues().add(queue, "first"));
        slots.passThrough(-1);
        poller.doWork();
        poller.queues().remove(queue, 1);
        final ScriptedQueue passing = new ScriptedQueue("passing");
        for (int i = 1; i < QueueRegistry.MAX_QUEUES; i++) {
            assertEquals(i, poller.queues().add(passing, i));
            assertEquals(i, poller.queues().attachment(i));
            poller.queues().remove(passing, 1);
        }
        assertEquals("first", poller.queues().attachment(0));
        assertEquals("a poller is limited to 65536 completion queues, including 65536 removed ones with completions in the ring",
            assertThrows(IllegalStateException.class, () -> poller.queues().add(passing)).getMessage());
        slots.passThrough(0);
        assertEquals(0, poller.queues().add(passing));
        assertNull(poller.queues().attachment(0));
    }

    @Test
    void shouldReleaseTheAttachmentWhenTheCompletionsArePassed() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        final int index = poller.queues().add(queue, "attached");
        slots.passThrough(-1);
        poller.doWork();
        poller.queues().remove(queue, 1);
        poller.queues().releasePassed();
        assertEquals("attached", poller.queues().attachment(index));
        slots.passThrough(0);
        poller.queues().releasePassed();
        assertNull(poller.queues().attachment(index));
        assertNull(poller.queues().attachment(-1));
        assertNull(poller.queues().attachment(QueueRegistry.MAX_QUEUES));
        poller.queues().add(queue, "again");
        poller.queues().remove(queue, 1);
        assertNull(poller.queues().attachment(index + 1), "nothing of it is in the ring");
    }

    @Test
    void shouldRefuseAFaultCodeThatIsNotNegative() {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        for (final int code : new int[]{0, 1, Integer.MAX_VALUE}) {
            assertEquals("fault code " + code + " of a is not negative",
                assertThrows(IllegalArgumentException.class, () -> poller.queues().reportFault(queue, code)).getMessage());
        }
    }

    @Test
    void shouldRefuseANullQueue() {
        final NullPointerException refused = assertThrows(NullPointerException.class, () -> poller.queues().add(null));
        assertEquals("the completion queue to be added is null", refused.getMessage());
    }

    @Test
    void shouldNotCompleteARemovalBeforeTheDutyCycleHasEnded() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        startOnAnotherThread();
        poller.doWork();
        final TimeoutException late = assertThrows(
            TimeoutException.class, () -> poller.queues().remove(queue, TimeUnit.MILLISECONDS.toNanos(10)));
        assertTrue(late.getMessage().startsWith("the poller did not remove a within "), late.getMessage());
        assertEquals(1, poller.queues().size());
        poller.doWork();
        poller.onClose();
        poller.queues().remove(queue, 1);
        assertEquals(0, poller.queues().size());
    }

    @Test
    void shouldRemoveAQueueBetweenTwoDutyCycles() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        final CountDownLatch started = new CountDownLatch(1);
        final Thread thread = Thread.ofPlatform().start(() -> {
            poller.onStart();
            started.countDown();
            while (!Thread.currentThread().isInterrupted()) {
                poller.doWork();
            }
        });
        started.await();
        poller.queues().remove(queue, TimeUnit.SECONDS.toNanos(50));
        final int left = queue.size();
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        Thread.sleep(5);
        thread.interrupt();
        thread.join();
        assertEquals(left + 1, queue.size());
    }

    @Test
    void shouldRejectAQueueThatIsAlreadyPolled() {
        final ScriptedQueue queue = new ScriptedQueue("a");
        poller.queues().add(queue);
        final IllegalStateException refused = assertThrows(IllegalStateException.class, () -> poller.queues().add(queue));
        assertEquals("a is already polled", refused.getMessage());
    }

    @Test
    void shouldNotReuseAnIndexWhileItsQueueIsPolled() throws TimeoutException {
        final int held = poller.queues().add(new ScriptedQueue("held"));
        for (int i = 0; i < QueueRegistry.MAX_QUEUES + 10; i++) {
            final ScriptedQueue passing = new ScriptedQueue("passing");
            assertNotEquals(held, poller.queues().add(passing));
            poller.queues().remove(passing, 1);
        }
    }

    @Test
    void shouldRetainOnlyTheNameOfARemovedQueue() throws Exception {
        final WeakReference<ScriptedQueue> left = new WeakReference<>(queueOfOne());
        final int index = poller.queues().add(left.get());
        poller.doWork();
        poller.queues().remove(left.get(), 1);
        while (left.get() != null) {
            System.gc();
            Thread.sleep(1);
        }
        assertEquals("a", poller.queues().name(index));
        for (int i = 0; i < 2000; i++) {
            final ScriptedQueue passing = new ScriptedQueue("passing");
            poller.queues().add(passing);
            poller.queues().remove(passing, 1);
        }
        assertEquals("completion queue " + index, poller.queues().name(index));
    }

    @Test
    void shouldTimeOutWhenThePollerExecutesNoCommands() throws InterruptedException {
        startOnAnotherThread();
        final TimeoutException full = assertThrows(TimeoutException.class, () -> {
            for (int i = 0; i <= CommandQueue.CAPACITY; i++) {
                poller.commands().submit(new PollerCommand(() -> { }), Deadline.after(1_000_000));
            }
        });
        assertTrue(full.getMessage().contains(CommandQueue.CAPACITY + " are pending"), full.getMessage());
    }

    @Test
    void shouldAddAndRemoveThousandsOfQueuesWhileRunning() throws Exception {
        final ArraySlots many = new ArraySlots(20_000, 20_000);
        final CompletionPoller busy =
            new CompletionPoller("poller", many, 4, new PollerCounterSet(TestCounters.create(), "poller"));
        final Thread thread = Thread.ofPlatform().start(() -> {
            busy.onStart();
            while (!Thread.currentThread().isInterrupted()) {
                if (busy.doWork() == 0) {
                    Thread.yield();
                }
            }
        });
        final ScriptedQueue[] queues = new ScriptedQueue[2000];
        for (int i = 0; i < queues.length; i++) {
            queues[i] = queueOfOne();
            busy.queues().add(queues[i]);
        }
        busy.awaitEmptyRound(Deadline.after(TimeUnit.SECONDS.toNanos(50)));
        for (final ScriptedQueue queue : queues) {
            assertEquals(0, queue.size());
            busy.queues().remove(queue, TimeUnit.SECONDS.toNanos(50));
        }
        thread.interrupt();
        thread.join();
        assertEquals(queues.length, many.published());
    }

    @Test
    void shouldNotPollAQueueWhoseRemovalOvertakesItsAddition() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.onStart();
        assertTrue(onAnotherThread(() -> poller.queues().add(queue)) >= 0);
        assertTrue(poller.commands().hasPending());
        // As a handler on the polling thread: executed directly, before the pending commands.
        poller.queues().remove(queue, 0);
        assertEquals(0, poller.doWork());
        assertEquals(0, queue.polls());
        assertEquals(0, poller.queues().size());
        assertEquals(List.of(), remainingAfterEnd());
    }

    @Test
    void shouldPollAQueueAddedAgainAfterItsRemovalOvertookItsAddition() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.onStart();
        onAnotherThread(() -> poller.queues().add(queue));
        poller.queues().remove(queue, 0);
        final int index = poller.queues().add(queue);
        assertEquals(1, poller.doWork());
        assertEquals(index, slots.get(0).queueIndex());
        assertEquals(1, queue.polls());
        assertEquals(0, poller.doWork());
        assertEquals(2, queue.polls());
    }

    @Test
    void shouldNotBlockOtherThreadsWhileAnAdditionWaitsForThePoller() throws Exception {
        final ScriptedQueue first = queueOfOne();
        final int index = poller.queues().add(first);
        startOnAnotherThread();
        fillCommands();
        final ScriptedQueue waiting = queueOfOne();
        final CompletableFuture<Integer> addition = CompletableFuture.supplyAsync(() -> poller.queues().add(waiting), ASYNC);
        Waiting.await(() -> poller.queues().size() != 1);
        assertEquals("a", poller.queues().name(index));
        assertEquals(2, poller.queues().size());
        assertFalse(addition.isDone());
        assertThrows(TimeoutException.class, () -> poller.queues().remove(waiting, 0));
        poller.doWork();
        addition.get();
        poller.doWork();
        assertEquals(0, waiting.size());
    }

    @Test
    void shouldNotPollAQueueThatIsRemovedWhileItsAdditionWaitsForThePoller() throws Exception {
        poller.onStart();
        onAnotherThread(() -> {
            fillCommands();
            return null;
        });
        final ScriptedQueue queue = queueOfOne();
        final CompletableFuture<Integer> addition = CompletableFuture.supplyAsync(() -> poller.queues().add(queue), ASYNC);
        Waiting.await(() -> poller.queues().size() != 0);
        poller.queues().remove(queue, 0);
        assertEquals(0, poller.queues().size());
        poller.doWork();
        addition.get();
        poller.doWork();
        assertEquals(0, queue.polls());
        assertEquals(List.of(), remainingAfterEnd());
    }

    @Test
    void shouldSubmitOneCommandForRepeatedRemovalsThatTimeOut() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        startOnAnotherThread();
        for (final long timeoutNs : new long[]{0, 1, -1, Long.MIN_VALUE}) {
            for (int i = 0; i < CommandQueue.CAPACITY; i++) {
                final TimeoutException late =
                    assertThrows(TimeoutException.class, () -> poller.queues().remove(queue, timeoutNs));
                assertEquals("the poller did not remove a within " + Math.max(0, timeoutNs) + " ns", late.getMessage());
            }
        }
        poller.doWork();
        assertEquals(0, queue.polls());
        poller.queues().remove(queue, 0);
        assertEquals(0, poller.queues().size());
    }

    @Test
    void shouldAcceptTheLargestTimeOut() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        poller.onStart();
        final CompletableFuture<Void> removal = runAsync(() -> poller.queues().remove(queue, Long.MAX_VALUE));
        Waiting.await(() -> poller.commands().hasPending());
        assertFalse(removal.isDone());
        poller.doWork();
        removal.get();
        assertEquals(0, queue.polls());
    }

    @Test
    void shouldRestoreTheInterruptFlagAfterAWaitForARemoval() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        poller.onStart();
        final CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
        Thread.ofPlatform().daemon().start(() -> {
            Thread.currentThread().interrupt();
            try {
                poller.queues().remove(queue, Long.MAX_VALUE);
                interrupted.complete(Thread.interrupted());
            } catch (final TimeoutException late) {
                interrupted.completeExceptionally(late);
            }
        });
        Waiting.await(() -> poller.commands().hasPending());
        poller.doWork();
        assertTrue(interrupted.get());
    }

    @Test
    void shouldAddAQueueAgainAfterATimedOutRemovalHasCompleted() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        poller.onStart();
        onAnotherThread(() -> assertThrows(TimeoutException.class, () -> poller.queues().remove(queue, 0)));
        onAnotherThread(() -> assertThrows(IllegalStateException.class, () -> poller.queues().add(queue)));
        assertEquals(0, poller.doWork());
        onAnotherThread(() -> poller.queues().add(queue));
        assertEquals(1, poller.queues().size());
        assertEquals(1, poller.doWork());
        assertEquals(1, queue.polls());
    }

    @Test
    void shouldNotApplyAnEarlierFaultReportToAQueueAddedAgain() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        poller.onStart();
        onAnotherThread(() -> {
            poller.queues().reportFault(queue, -7);
            return null;
        });
        poller.queues().remove(queue, 0);
        poller.queues().add(queue);
        assertEquals(1, poller.doWork());
        assertEquals(WcStatus.SUCCESS, slots.get(0).status());
        assertEquals(0, poller.doWork());
        assertEquals(2, queue.polls());
    }

    @Test
    void shouldPublishAFaultReportedBeforeTheFirstPoll() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.onStart();
        onAnotherThread(() -> poller.queues().add(queue));
        poller.queues().reportFault(queue, -7);
        assertEquals(1, poller.doWork());
        assertEquals(-7, slots.get(0).vendorError());
        assertEquals(0, queue.polls());
    }

    @Test
    void shouldNotPollAQueueThatAHandlerRemovesDuringTheRoundAndReplaces() {
        final ScriptedQueue removed = queueOfOne();
        final ScriptedQueue added = queueOfOne();
        final CompletionPoller inPlace = inPlace(() -> {
            if (slots.published() == 1) {
                remove(removed);
                self.queues().add(added);
            }
        });
        inPlace.queues().add(queueOfOne());
        inPlace.queues().add(removed);
        inPlace.onStart();
        assertEquals(1, inPlace.doWork(), "the remaining queues are polled in the next round");
        assertEquals(1, inPlace.doWork());
        assertEquals(0, inPlace.doWork());
        assertEquals(0, removed.polls());
        assertEquals(2, added.polls());
    }

    @Test
    void shouldPollEachQueueInTurnWhileAHandlerChangesTheRound() {
        final ScriptedQueue busy = new ScriptedQueue("busy");
        final ScriptedQueue quiet = queueOfOne();
        final ScriptedQueue passing = new ScriptedQueue("passing");
        final CompletionPoller inPlace = inPlace(() -> {
            self.queues().add(passing);
            remove(passing);
        });
        inPlace.queues().add(busy);
        inPlace.queues().add(quiet);
        inPlace.onStart();
        for (int round = 0; round < 3; round++) {
            busy.add(round, WcStatus.SUCCESS, WcOpcode.SEND);
            inPlace.doWork();
        }
        assertEquals(0, quiet.size());
    }

    @Test
    void shouldPollTheNextQueueAfterAHandlerHasRemovedTheCurrentOne() {
        final ScriptedQueue first = queueOfOne();
        final ScriptedQueue second = queueOfOne();
        final ScriptedQueue third = queueOfOne();
        final CompletionPoller inPlace = inPlace(() -> {
            if (slots.published() == 1) {
                remove(first);
            }
        });
        inPlace.queues().add(first);
        inPlace.queues().add(second);
        inPlace.queues().add(third);
        inPlace.onStart();
        assertEquals(1, inPlace.doWork());
        assertEquals(2, inPlace.doWork());
        assertEquals(1, slots.get(1).queueIndex());
        assertEquals(2, slots.get(2).queueIndex());
    }

    @Test
    void shouldNotReportAFaultAgainWhenAHandlerRemovesTheFailedQueue() {
        final ScriptedQueue failing = new ScriptedQueue("failing");
        failing.failWith(-1);
        final CompletionPoller inPlace = inPlace(() -> remove(failing));
        inPlace.queues().add(failing);
        inPlace.onStart();
        assertEquals(1, inPlace.doWork());
        assertEquals(0, inPlace.doWork());
        assertEquals(1, failing.polls());
        assertEquals(0, inPlace.queues().size());
    }

    @Test
    void shouldNotPollARemovedQueueWhenSeveralThreadsAddAndRemoveIt() throws Exception {
        final ScriptedQueue queue = new ScriptedQueue("shared");
        final AtomicBoolean ended = new AtomicBoolean();
        final Thread polling = Thread.ofPlatform().daemon().start(() -> {
            poller.onStart();
            while (!ended.get()) {
                poller.doWork();
                Thread.yield();
            }
            poller.onClose();
        });
        final List<CompletableFuture<Void>> users = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            users.add(runAsync(() -> {
                for (int round = 0; round < 300; round++) {
                    addUnlessPolled(queue);
                    poller.queues().remove(queue, Long.MAX_VALUE);
                }
            }));
        }
        for (final CompletableFuture<Void> user : users) {
            user.get();
        }
        final long polls = queue.polls();
        assertEquals(0, poller.queues().size());
        poller.awaitEmptyRound(Deadline.after(Long.MAX_VALUE));
        assertEquals(polls, queue.polls());
        ended.set(true);
        polling.join();
        assertEquals(List.of(), poller.queues().remaining());
    }

    @Test
    void shouldExcludeFailedAndRemovedQueuesFromRemaining() throws Exception {
        final ScriptedQueue kept = queueOfOne();
        final ScriptedQueue failed = queueOfOne();
        final ScriptedQueue removed = queueOfOne();
        poller.queues().add(failed);
        poller.queues().add(kept);
        poller.queues().add(removed);
        poller.onStart();
        assertThrows(IllegalStateException.class, () -> poller.queues().remaining());
        poller.queues().remove(removed, 0);
        poller.queues().reportFault(failed, -1);
        assertEquals(List.of(kept), remainingAfterEnd());
    }

    @Test
    void shouldRemoveAQueueDirectlyOnThePollingThread() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        poller.onStart();
        poller.queues().add(queue);
        assertEquals(1, poller.doWork());
        poller.queues().remove(queue, 1);
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        assertEquals(0, poller.doWork());
        assertEquals(1, queue.size());
    }

    /** An action that may throw. */
    private interface Action {
        void run() throws Exception;
    }

    private CompletionPoller inPlace(final Runnable handler) {
        self = new CompletionPoller("in-place", slots.handledInPlaceBy(handler), slots, 4, false,
            new PollerCounterSet(TestCounters.create(), "in-place"), error -> { }, SystemNanoClock.INSTANCE);
        return self;
    }

    /** Removes a queue as a handler on the polling thread does. */
    private void remove(final ScriptedQueue queue) {
        try {
            self.queues().remove(queue, 0);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    private void addUnlessPolled(final ScriptedQueue queue) {
        try {
            poller.queues().add(queue);
        } catch (final IllegalStateException polled) {
            assertEquals("shared is already polled", polled.getMessage());
        }
    }

    private List<CompletionQueue> remainingAfterEnd() {
        poller.onClose();
        return poller.queues().remaining();
    }

    private void fillCommands() throws TimeoutException {
        for (int i = 0; i < CommandQueue.CAPACITY; i++) {
            poller.commands().submit(new PollerCommand(() -> { }), Deadline.after(0));
        }
    }

    /** Simulates a running poller that makes no duty cycle. */
    private void startOnAnotherThread() throws InterruptedException {
        Thread.ofPlatform().start(poller::onStart).join();
    }

    private static <T> T onAnotherThread(final Callable<T> action) throws Exception {
        final FutureTask<T> task = new FutureTask<>(action);
        Thread.ofPlatform().daemon().start(task);
        return task.get();
    }

    private static CompletableFuture<Void> runAsync(final Action action) {
        return CompletableFuture.runAsync(
            () -> {
                try {
                    action.run();
                } catch (final Exception failed) {
                    throw new CompletionException(failed);
                }
            },
            ASYNC);
    }

    private static ScriptedQueue queueOfOne() {
        return new ScriptedQueue("a").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
    }
}
