package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.AsyncEvent;
import io.ringpoll.completion.AsyncEventType;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.internal.verbs.CountedQueue;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.LongStream;
import org.agrona.concurrent.CachedNanoClock;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CompletionPollerTest {
    private static final int BATCH_LIMIT = 4;

    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, BATCH_LIMIT, counters);

    @Test
    void shouldPublishCompletionsInTheOrderOfTheQueue() {
        poller.queues().add(queueOf("a", 1, 2, 3));
        assertEquals(3, poller.doWork());
        assertEquals(3, slots.published());
        for (int i = 0; i < 3; i++) {
            assertEquals(i + 1, slots.get(i).workRequestId());
        }
    }

    @Test
    void shouldReportNoWorkWhenAllQueuesAreEmpty() {
        poller.queues().add(new ScriptedQueue("a"));
        assertEquals(0, poller.doWork());
        assertEquals(CompletionPoller.Outcome.EMPTY, poller.outcome());
        poller.onClose();
        assertEquals(1, counters.polls());
        assertEquals(1, counters.emptyPolls());
    }

    @Test
    void shouldIdentifyTheQueueOfACompletion() {
        final int a = poller.queues().add(queueOf("a", 1, 2));
        final int b = poller.queues().add(queueOf("b", 3));
        poller.doWork();
        assertEquals(a, slots.get(0).queueIndex());
        assertEquals(a, slots.get(1).queueIndex());
        assertEquals(b, slots.get(2).queueIndex());
        assertEquals("b", poller.queues().name(b));
    }

    @Test
    void shouldPollAtMostTheBatchLimitFromOneQueueInARound() {
        final ScriptedQueue busy = queueOf("busy", 1, 2, 3, 4, 5, 6);
        poller.queues().add(busy);
        poller.queues().add(queueOf("other", 100));
        assertEquals(BATCH_LIMIT + 1, poller.doWork());
        assertEquals(100, slots.get(BATCH_LIMIT).workRequestId());
        assertEquals(2, busy.size());
    }

    @Test
    void shouldLeaveCompletionsInTheQueueWhileTheRingIsFull() {
        final ArraySlots few = new ArraySlots(64, 2);
        final CompletionPoller stalled = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        final ScriptedQueue queue = queueOf("a", 1, 2, 3);
        stalled.queues().add(queue);
        assertEquals(2, stalled.doWork());
        assertEquals(0, stalled.doWork());
        assertEquals(1, queue.size());
        assertEquals(1, counters.ringFull());
        few.release(1);
        assertEquals(1, stalled.doWork());
        assertEquals(3, few.get(2).workRequestId());
    }

    @Test
    void shouldResumeWithTheFirstUnpolledQueueAfterTheRingWasFull() {
        final ArraySlots few = new ArraySlots(64, 1);
        final CompletionPoller stalled = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        stalled.queues().add(queueOf("a", 1, 2, 3));
        stalled.queues().add(queueOf("b", 100));
        stalled.doWork();
        few.release(1);
        stalled.doWork();
        assertEquals(1, few.get(0).workRequestId());
        assertEquals(100, few.get(1).workRequestId());
    }

    @Test
    void shouldRemoveAFailedQueueAndReportItOnceOnTheErrorPath() {
        final ScriptedQueue failing = queueOf("failing", 1);
        final ScriptedQueue sound = queueOf("sound", 2);
        final int index = poller.queues().add(failing);
        poller.queues().add(sound);
        failing.failWith(-100_002);
        poller.doWork();
        poller.doWork();
        sound.add(3, WcStatus.SUCCESS, WcOpcode.SEND);
        poller.doWork();
        assertEquals(4, slots.published());
        assertEquals(CompletionPath.ERROR, slots.get(2).path());
        assertEquals(QueueFault.STATUS, slots.get(2).status());
        assertEquals(-100_002, slots.get(2).vendorError());
        assertEquals(index, slots.get(2).queueIndex());
        assertEquals(3, slots.get(3).workRequestId());
        assertEquals(1, counters.queueFaults());
    }

    @Test
    void shouldReportAFaultWhenTheRingHasRoom() {
        final ArraySlots few = new ArraySlots(64, 1);
        final CompletionPoller stalled = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        final ScriptedQueue failing = new ScriptedQueue("failing");
        stalled.queues().add(queueOf("a", 1));
        stalled.queues().add(failing);
        failing.failWith(-1);
        assertEquals(1, stalled.doWork());
        assertEquals(1, few.published());
        few.release(1);
        assertEquals(1, stalled.doWork());
        assertEquals(QueueFault.STATUS, few.get(1).status());
    }

    @Test
    void shouldRemoveAQueueWithAThrowingPollAndRecordTheException() {
        final List<Throwable> recorded = new ArrayList<>();
        final CompletionPoller careful = new CompletionPoller(
            "poller", slots, slots, BATCH_LIMIT, false, counters, recorded::add, SystemNanoClock.INSTANCE);
        final ScriptedQueue broken = new ScriptedQueue("broken");
        final IllegalStateException thrown = new IllegalStateException("provoked");
        broken.throwAtPoll(thrown);
        careful.queues().add(broken);
        careful.queues().add(queueOf("sound", 7));
        careful.doWork();
        careful.doWork();
        assertEquals(List.of(thrown), recorded);
        assertEquals(QueueFault.POLL_THREW, slots.get(0).vendorError());
        assertEquals(7, slots.get(1).workRequestId());
        assertEquals(2, slots.published());
    }

    @Test
    void shouldRemoveAQueueThatReturnsMoreThanItWasAskedFor() {
        final List<String> recorded = new ArrayList<>();
        final CompletionPoller careful = new CompletionPoller("poller", slots, slots, BATCH_LIMIT, false, counters,
            failure -> recorded.add(failure.getMessage()), SystemNanoClock.INSTANCE);
        careful.queues().add(new CompletionQueue() {
            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                return maxEntries + 1;
            }

            @Override
            public String name() {
                return "wrong";
            }
        });
        careful.doWork();
        careful.doWork();
        assertEquals(List.of("wrong: the poll returned 5 completions, at most 4 were asked for"), recorded);
        assertEquals(1, slots.published());
        assertEquals(QueueFault.POLL_THREW, slots.get(0).vendorError());
    }

    @Test
    void shouldReportAFaultDetectedByTheOwnerOnceAndStopPolling() {
        final ScriptedQueue queue = queueOf("a", 1);
        poller.queues().add(queue);
        poller.queues().reportFault(queue, -5);
        poller.queues().reportFault(queue, -6);
        poller.doWork();
        poller.doWork();
        assertEquals(1, slots.published());
        assertEquals(QueueFault.STATUS, slots.get(0).status());
        assertEquals(-5, slots.get(0).vendorError());
        assertEquals(1, queue.size());
    }

    @Test
    void shouldRemoveTheQueueThatTheDeviceReportsAsFailed() {
        final ScriptedQueue failed = queueOf("a", 1).at(64);
        poller.queues().add(failed);
        poller.queues().add(queueOf("b", 2).at(128));
        poller.queues().onEvent(new AsyncEvent("device", AsyncEventType.QP_FATAL, 64, 0, 0));
        poller.queues().onEvent(new AsyncEvent("device", AsyncEventType.CQ_ERR, 64, 0, 0));
        poller.doWork();
        poller.doWork();
        assertEquals(2, slots.published());
        assertEquals(QueueFault.CQ_ERROR_EVENT, slots.get(0).vendorError());
        assertEquals("a", poller.queues().name(slots.get(0).queueIndex()));
        assertEquals(2, slots.get(1).workRequestId());
        assertEquals(1, failed.size());
    }

    @Test
    void shouldPollABusyQueueAndAQuietQueueInTurn() {
        final long[] many = new long[50 * 8];
        poller.queues().add(queueOf("busy", many));
        final ScriptedQueue quiet = queueOf("quiet");
        poller.queues().add(quiet);
        for (int round = 0; round < 8; round++) {
            quiet.add(1000 + round, WcStatus.SUCCESS, WcOpcode.SEND);
            final int before = slots.published();
            poller.doWork();
            assertEquals(1000 + round, slots.get(slots.published() - 1).workRequestId(), "in the round of its arrival");
            assertTrue(slots.published() - before <= BATCH_LIMIT + 1, "the busy queue exceeded the batch limit");
        }
    }

    @Test
    void shouldContinueWithTheNextQueueAfterAnEarlierOneHasFailed() {
        final ScriptedQueue a = queueOf("a", 1);
        poller.queues().add(a);
        poller.queues().add(queueOf("b", 2, 3, 4, 5, 6, 7, 8, 9, 10));
        poller.queues().add(queueOf("c", 100));
        a.failWith(-1);
        poller.doWork();
        poller.doWork();
        poller.doWork();
        assertEquals(12, slots.published());
        assertEquals(0, poller.doWork());
    }

    @Test
    void shouldCountTheCompletionsThatItPublishesWithoutTheFaults() {
        final ScriptedQueue failing = new ScriptedQueue("failing");
        poller.queues().add(queueOf("a", 1, 2, 3, 4, 5, 6, 7));
        poller.queues().add(failing);
        failing.failWith(-1);
        poller.doWork();
        assertEquals(4, counters.completions());
        assertEquals(5, counters.published.get());
        poller.doWork();
        poller.doWork();
        assertEquals(7, counters.completions());
        assertEquals(8, counters.published.get());
        assertEquals(4, counters.batchMax.get());
    }

    @Test
    void shouldPublishRecordsThatItCannotRead() {
        final JavaProcess process =
            JavaProcess.create().option("-XX:-CreateCoredumpOnCrash").option("-XX:ErrorFile=/dev/null");
        assertEquals("published", process.run(BlindPoller.class).strip());
    }

    /** Polls into addresses without memory, where a read or a write would end the JVM. */
    static final class BlindPoller {
        private static final PrintStream OUT = System.out;
        private static final int SLOTS = 64;
        private static final int PAGE_BYTES = 4096;
        /** Below the lowest address that a process may map. */
        private static final long NOWHERE = 8 * PAGE_BYTES;

        private BlindPoller() {
        }

        public static void main(final String... arguments) {
            final int[] published = new int[1];
            final SlotRing ring = new SlotRing() {
                @Override
                public UnsafeBuffer slab() {
                    return new UnsafeBuffer(NOWHERE, SLOTS * IbvWc.SIZE_BYTES);
                }

                @Override
                public int claim(final int limit) {
                    return limit;
                }

                @Override
                public int claimedOffset() {
                    return 0;
                }

                @Override
                public void publish(final int count, final int queueIndex) {
                    published[0] += count;
                }

                @Override
                public boolean isHalted() {
                    return false;
                }

                @Override
                public long lastPublished() {
                    return published[0] - 1;
                }

                @Override
                public boolean isPassed(final long sequence) {
                    return true;
                }
            };
            final CompletionPoller blind = new CompletionPoller(
                "poller", ring, BATCH_LIMIT, new PollerCounterSet(TestCounters.create(), "poller"));
            final CompletionBudget budget = new CompletionBudget(BATCH_LIMIT);
            blind.queues().add(new FullQueue("without a budget", null));
            blind.queues().add(new FullQueue("with a budget", budget));
            for (int cycle = 0; cycle < 100; cycle++) {
                while (budget.reserveSend(true, false)) {
                    Thread.onSpinWait();
                }
                blind.doWork();
                assertEquals(0, budget.inFlight());
            }
            assertEquals(100 * 2 * BATCH_LIMIT, published[0]);
            OUT.println("published");
        }
    }

    /** A queue that returns completions without writing them. */
    private record FullQueue(String name, CompletionBudget budget) implements CompletionQueue, CountedQueue {
        @Override
        public int pollUncounted(final long wcAddress, final int maxEntries) {
            return maxEntries;
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            throw new AssertionError("the poller updates the budget");
        }
    }

    @Test
    void shouldSumTheBudgetsOncePer1024DutyCycles() {
        poller.queues().add(counted(new ScriptedQueue("a"), new CompletionBudget(5)));
        for (int cycle = 1; cycle <= 2048; cycle++) {
            counters.budgetDepth.setRelease(0);
            poller.doWork();
            assertEquals(cycle, poller.cycles());
            assertEquals(cycle % 1024 == 0 ? 5 : 0, counters.budgetDepth());
        }
    }

    @Test
    void shouldUpdateCountersWithinAFewDutyCyclesUnderLoad() {
        final ArraySlots many = new ArraySlots(1024, 1024);
        final CompletionPoller busy = new CompletionPoller("poller", many, BATCH_LIMIT, counters);
        busy.queues().add(queueOf("a", LongStream.range(0, 500).toArray()));
        busy.queues().add(queueOf("b", LongStream.range(500, 1000).toArray()));
        for (int cycle = 1; cycle <= 100; cycle++) {
            assertEquals(2 * BATCH_LIMIT, busy.doWork());
            assertEquals(many.published(), counters.completions());
            final long behind = 2 * cycle - counters.polls();
            assertTrue(behind >= 0 && behind <= 2 * PollTally.CYCLES, behind + " behind");
        }
        assertTrue(counters.polls() > 0);
    }

    @Test
    void shouldFlushCountersInTheNextEmptyRound() {
        poller.queues().add(queueOf("a", 1, 2, 3, 4, 5));
        poller.doWork();
        poller.doWork();
        assertEquals(5, counters.completions());
        assertEquals(3, counters.polls());
        assertEquals(1, counters.emptyPolls());
        assertEquals(1, counters.batchesBySize[2].get());
        assertEquals(1, counters.batchesBySize[0].get());
    }

    @Test
    void shouldFlushCountersBeforeACommand() throws TimeoutException, InterruptedException {
        poller.queues().add(queueOf("a", 1, 2, 3, 4, 5, 6, 7));
        poller.onStart();
        poller.doWork();
        assertEquals(0, counters.polls());
        final Thread other = Thread.ofPlatform().start(() -> {
            try {
                poller.pause(Deadline.after(TimeUnit.SECONDS.toNanos(50)));
            } catch (final TimeoutException late) {
                throw new AssertionError(late);
            }
        });
        Waiting.await(() -> poller.commands().hasPending());
        assertEquals(0, poller.doWork());
        assertEquals(CompletionPoller.Outcome.PAUSED, poller.outcome());
        assertEquals(2, counters.polls());
        assertEquals(7, counters.completions());
        other.join();
    }

    @Test
    void shouldCountAStallOnceWithItsDutyCyclesAndDuration() {
        final ArraySlots few = new ArraySlots(64, 1);
        final CachedNanoClock clock = new CachedNanoClock();
        final CompletionPoller stalled =
            new CompletionPoller("poller", few, few, BATCH_LIMIT, false, counters, error -> { }, clock);
        stalled.queues().add(queueOf("a", 1, 2, 3));
        stalled.doWork();
        stalled.doWork();
        clock.advance(70);
        stalled.doWork();
        assertEquals(CompletionPoller.Outcome.RING_FULL, stalled.outcome());
        assertEquals(70, counters.ringFullNs(), "a stall is visible during the stall");
        clock.advance(30);
        few.release(1);
        stalled.doWork();
        assertEquals(CompletionPoller.Outcome.WORKED, stalled.outcome());
        assertEquals(1, counters.ringFullStalls());
        assertEquals(2, counters.ringFull());
        assertEquals(100, counters.ringFullNs());
        assertEquals(100, few.causedStallNs());
        assertEquals(1, few.stalls());
    }

    @Test
    void shouldNotReadTheClockWhileTheRingHasRoom() {
        final NanoClock unread = () -> {
            throw new AssertionError("the clock was read");
        };
        final CompletionPoller healthy =
            new CompletionPoller("poller", slots, slots, BATCH_LIMIT, false, counters, error -> { }, unread);
        healthy.queues().add(queueOf("a", 1, 2, 3, 4, 5));
        healthy.doWork();
        healthy.doWork();
        healthy.doWork();
        assertEquals(5, slots.published());
    }

    @Test
    void shouldDetectAHaltedHandlerWithinOneDutyCycle() {
        poller.queues().add(queueOf("a", 1));
        slots.halt();
        assertEquals(0, poller.doWork());
        assertEquals(CompletionPoller.Outcome.HALTED, poller.outcome());
        assertEquals(0, counters.ringFullStalls());
    }

    @Test
    void shouldLeaveCompletionsInTheQueueWhilePaused() throws TimeoutException {
        final ScriptedQueue queue = queueOf("a", 1, 2);
        poller.queues().add(queue);
        poller.pause(soon());
        poller.pause(soon());
        assertEquals(0, poller.doWork());
        assertEquals(CompletionPoller.Outcome.PAUSED, poller.outcome());
        assertEquals(2, queue.size());
        poller.resume(soon());
        assertEquals(2, poller.doWork());
    }

    @Test
    void shouldReportAnEmptyRoundOnlyWhenAllQueuesAreEmpty() throws Exception {
        final ScriptedQueue queue = queueOf("a", 1);
        poller.queues().add(queue);
        poller.onStart();
        final AtomicBoolean empty = new AtomicBoolean();
        final Thread waiting = Thread.ofPlatform().start(() -> {
            try {
                poller.awaitEmptyRound(Deadline.after(TimeUnit.SECONDS.toNanos(50)));
                empty.set(true);
            } catch (final TimeoutException late) {
                throw new AssertionError(late);
            }
        });
        Waiting.await(() -> poller.commands().hasPending());
        assertEquals(1, poller.doWork());
        waiting.join(20);
        assertFalse(empty.get());
        assertEquals(0, poller.doWork());
        waiting.join();
        assertTrue(empty.get());
    }

    @Test
    void shouldReleaseTheBudgetBeforePublishing() {
        for (final boolean inPlace : new boolean[]{false, true}) {
            for (final boolean countsItself : new boolean[]{false, true}) {
                final CompletionBudget budget = new CompletionBudget(1);
                final List<Boolean> hadRoom = new ArrayList<>();
                final Runnable handler = () -> hadRoom.add(budget.inFlight() < budget.depth());
                final ArraySlots handled = new ArraySlots(64, 64);
                final CompletionPoller returning =
                    polling(inPlace ? handled.handledInPlaceBy(handler) : handled.handledBy(handler), counters);
                final ScriptedQueue queue = queueOf("a", 1);
                returning.queues().add(countsItself ? countingItself(queue, budget) : counted(queue, budget));
                assertTrue(budget.reserveSend(true, false));
                assertEquals(1, returning.doWork());
                assertEquals(List.of(true), hadRoom, "in place: " + inPlace + ", updates its budget: " + countsItself);
                assertEquals(0, budget.inFlight());
            }
        }
    }

    @Test
    void shouldRetireEachCompletionOfAMixedBatchOnce() {
        final CompletionBudget budget = new CompletionBudget(16);
        final ScriptedQueue queue = new ScriptedQueue("mixed");
        queue.add(0, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE).add(1, WcStatus.SUCCESS, WcOpcode.RECV)
            .add(2, WcStatus.WR_FLUSH_ERR, WcOpcode.RDMA_WRITE).add(3, WcStatus.SUCCESS, WcOpcode.SEND);
        for (int i = 0; i < 10; i++) {
            assertTrue(budget.reserveSend(true, false));
        }
        assertTrue(budget.reserveReceive(false));
        final CompletionPoller mixed = new CompletionPoller("poller", slots, BATCH_LIMIT, counters);
        mixed.queues().add(counted(queue, budget));
        assertEquals(4, mixed.doWork());
        assertEquals(7, budget.inFlight());
    }

    @Test
    void shouldRemoveAFailedQueueWhenTheRingIsFullAfterItsFault() {
        final ArraySlots few = new ArraySlots(64, 1);
        final CompletionPoller stalled = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        final ScriptedQueue failing = new ScriptedQueue("failing");
        failing.failWith(-1);
        stalled.queues().add(failing);
        stalled.queues().add(queueOf("a", 1));
        assertEquals(1, stalled.doWork());
        assertEquals(CompletionPoller.Outcome.RING_FULL, stalled.outcome());
        assertEquals(1, counters.queues.get());
        few.release(10);
        assertEquals(1, stalled.doWork());
        assertEquals(0, stalled.doWork());
        assertEquals(2, few.published());
        assertEquals(1, counters.queueFaults());
    }

    @Test
    void shouldPublishEachFaultWhenTheRingIsFullAfterOne() {
        final ArraySlots few = new ArraySlots(64, 1);
        final CompletionPoller stalled = new CompletionPoller("poller", few, BATCH_LIMIT, counters);
        final ScriptedQueue first = new ScriptedQueue("first");
        final ScriptedQueue second = new ScriptedQueue("second");
        stalled.queues().add(first);
        stalled.queues().add(second);
        stalled.queues().reportFault(first, -1);
        stalled.queues().reportFault(second, -2);
        assertEquals(1, stalled.doWork());
        few.release(1);
        assertEquals(1, stalled.doWork());
        assertEquals(-1, few.get(0).vendorError());
        assertEquals(-2, few.get(1).vendorError());
        assertEquals(0, counters.queues.get());
    }

    @Test
    void shouldCountTheBatchInWhichAHandlerThrowsThroughThePoller() {
        final ArraySlots failing = new ArraySlots(64, 64).handledInPlaceBy(() -> {
            throw new IllegalStateException("provoked");
        });
        final CompletionPoller thrown = polling(failing, counters);
        thrown.queues().add(queueOf("a", 1, 2, 3));
        assertThrows(IllegalStateException.class, thrown::doWork);
        thrown.onClose();
        assertEquals(3, counters.completions());
        assertEquals(3, counters.published.get());
    }

    @Test
    void shouldCountTheBatchInWhichAHandlerHalts() {
        for (final boolean removes : new boolean[]{false, true}) {
            final PollerCounterSet halting = new PollerCounterSet(TestCounters.create(), "halting");
            final ArraySlots handled = new ArraySlots(64, 64);
            final ScriptedQueue queue = queueOf("a", 1, 2, 3);
            final CompletionPoller halted = polling(handled, halting);
            handled.handledInPlaceBy(() -> {
                handled.halt();
                if (removes) {
                    remove(halted, queue);
                }
            });
            halted.queues().add(queue);
            halted.onStart();
            assertEquals(3, halted.doWork());
            assertEquals(0, halted.doWork());
            assertEquals(3, halting.completions(), "removes: " + removes);
            assertEquals(3, halting.published.get());
        }
    }

    /** A poller of a ring with its handlers. */
    private static CompletionPoller polling(final ArraySlots slots, final PollerCounterSet counters) {
        return new CompletionPoller(
            "poller", slots, slots, BATCH_LIMIT, false, counters, error -> { }, SystemNanoClock.INSTANCE);
    }

    private static void remove(final CompletionPoller poller, final ScriptedQueue queue) {
        try {
            poller.queues().remove(queue, 0);
        } catch (final TimeoutException late) {
            throw new AssertionError(late);
        }
    }

    /** A queue of which the poller updates the budget. */
    private static CompletionQueue counted(final ScriptedQueue queue, final CompletionBudget budget) {
        final class Counted implements CompletionQueue, CountedQueue {
            @Override
            public int pollUncounted(final long wcAddress, final int maxEntries) {
                return queue.poll(WorkCompletions.in(
                    new UnsafeBuffer(wcAddress, maxEntries * IbvWc.SIZE_BYTES), 0, maxEntries), 0, maxEntries);
            }

            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                throw new AssertionError("the poller updates the budget");
            }

            @Override
            public CompletionBudget budget() {
                return budget;
            }

            @Override
            public String name() {
                return queue.name();
            }
        }
        return new Counted();
    }

    /** A queue that updates its budget itself. */
    private static CompletionQueue countingItself(final ScriptedQueue queue, final CompletionBudget budget) {
        return new CompletionQueue() {
            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                final int polled = queue.poll(records, first, maxEntries);
                budget.onPolled(records, first, polled);
                return polled;
            }

            @Override
            public CompletionBudget budget() {
                return budget;
            }

            @Override
            public String name() {
                return queue.name();
            }
        };
    }

    private static Deadline soon() {
        return Deadline.after(TimeUnit.SECONDS.toNanos(50));
    }

    private static ScriptedQueue queueOf(final String name, final long... workRequestIds) {
        final ScriptedQueue queue = new ScriptedQueue(name);
        for (final long id : workRequestIds) {
            queue.add(id, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        }
        return queue;
    }
}
