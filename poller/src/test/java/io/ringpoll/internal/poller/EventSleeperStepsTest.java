package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.concurrent.SystemNanoClock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The calls of the sleeper one after the other, on the thread of the test. */
@Timeout(60)
class EventSleeperStepsTest {
    private static final long HOUR_NS = TimeUnit.HOURS.toNanos(1);
    /** Calls between two yields, after which the clock is read. */
    private static final int SPINS = 4;

    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final ArraySlots slots = new ArraySlots(64, 64);
    private final CompletionPoller poller = new CompletionPoller("poller", slots, 4, counters);
    private Fifo channel;
    private NotifyingScriptedQueue queue;
    private EventSleeper idle;

    @BeforeEach
    void open(@TempDir final Path folder) throws IOException, InterruptedException {
        channel = new Fifo(folder);
        queue = new NotifyingScriptedQueue("a", channel);
    }

    @AfterEach
    void end() throws IOException {
        poller.onClose();
        channel.close();
    }

    @Test
    void shouldRoundTheTimeOutUpToMilliseconds() {
        assertEquals(1, EventSleeper.milliseconds(1));
        assertEquals(1, EventSleeper.milliseconds(999_999));
        assertEquals(1, EventSleeper.milliseconds(1_000_000));
        assertEquals(2, EventSleeper.milliseconds(1_000_001));
        assertEquals(100, EventSleeper.milliseconds(EventDrivenIdle.DEFAULT_MAX_SLEEP_NS));
        assertEquals(Integer.MAX_VALUE, EventSleeper.milliseconds(Integer.MAX_VALUE * 1_000_000L));
        assertEquals(Integer.MAX_VALUE, EventSleeper.milliseconds(Integer.MAX_VALUE * 1_000_000L + 1));
        assertEquals(Integer.MAX_VALUE, EventSleeper.milliseconds(Long.MAX_VALUE));
    }

    @Test
    void shouldBeChosenOnceAndBeforeAnyQueue() {
        start(0, HOUR_NS);
        final String refusal = "choose the idle strategy once, before adding queues";
        assertEquals(refusal,
            assertThrows(IllegalStateException.class, () -> poller.sleepOnEvents(new EventDrivenIdle())).getMessage());
        final CompletionPoller other =
            new CompletionPoller("other", new ArraySlots(64, 64), 4, new PollerCounterSet(TestCounters.create(), "other"));
        other.queues().add(new ScriptedQueue("b"));
        assertEquals(refusal,
            assertThrows(IllegalStateException.class, () -> other.sleepOnEvents(new EventDrivenIdle())).getMessage());
    }

    @Test
    void shouldArmTheQueuesThenSleepUntilTheTimeOut() {
        start(0, 1);
        idle.idle(0);
        assertTrue(queue.isArmed());
        assertEquals(1, counters.arms.get());
        assertEquals(0, counters.sleeps());
        idle.idle(0);
        assertEquals(1, counters.arms.get());
        assertEquals(1, counters.sleeps());
        assertEquals(1, counters.sleepTimeouts.get());
    }

    @Test
    void shouldArmOnlyTheQueuesThatAreNotArmed() {
        start(0, 1);
        idle.idle(0);
        final NotifyingScriptedQueue later = new NotifyingScriptedQueue("later", channel);
        poller.queues().add(later);
        idle.idle(0);
        assertTrue(later.isArmed());
        assertEquals(2, counters.arms.get());
        assertEquals(0, counters.sleeps(), "the queue is polled once more after it is armed");
    }

    @Test
    void shouldSleepAtOnceAfterWorkIfItDoesNotSpin() {
        start(0, 1);
        idle.idle(1);
        idle.idle(0);
        assertEquals(1, counters.arms.get());
    }

    @Test
    void shouldSpinForItsTimeAfterWorkAndArmOnlyThen() {
        final long spinNs = TimeUnit.MILLISECONDS.toNanos(1);
        start(spinNs, 1);
        for (int round = 0; round < 3; round++) {
            idle.idle(1);
            spinsThrough(spinNs, round);
        }
    }

    @Test
    void shouldNotEndItsSpinBeforeItsTime() {
        start(HOUR_NS, 1);
        idle.idle(1);
        for (int i = 0; i < 10 * SPINS; i++) {
            idle.idle(0);
        }
        assertEquals(0, counters.arms.get());
    }

    @Test
    void shouldYieldItsCoreToAnotherThreadWhileItSpins() throws InterruptedException {
        start(HOUR_NS, 1);
        final int cpu = ThreadAffinity.get().nextSetBit(0);
        final AtomicInteger turns = new AtomicInteger();
        final AtomicInteger turnsMeanwhile = new AtomicInteger();
        final AtomicBoolean ended = new AtomicBoolean();
        final Thread other = Thread.ofPlatform().start(() -> {
            ThreadAffinity.pin(cpu);
            while (!ended.get()) {
                turns.incrementAndGet();
                Thread.yield();
            }
        });
        final Thread polling = Thread.ofPlatform().start(() -> {
            ThreadAffinity.pin(cpu);
            while (turns.get() == 0) {
                Thread.yield();
            }
            final int before = turns.get();
            idle.idle(1);
            for (int i = 0; i < 1000 * SPINS; i++) {
                idle.idle(0);
            }
            turnsMeanwhile.set(turns.get() - before);
            ended.set(true);
        });
        polling.join();
        other.join();
        // Without a yield, a turn starts only with the end of a time slice.
        assertTrue(turnsMeanwhile.get() > 100, () -> turnsMeanwhile + " turns");
    }

    /** Each yield is a long one. */
    @Test
    void shouldEndItsSpinAtALongYieldAndSleepAtOnceInTheNextIdlePeriods() {
        start(HOUR_NS, 1, new CoreContention(0));
        for (int period = 0; period < CoreContention.FEWEST_SKIPPED + 1; period++) {
            idle.idle(1);
            // Of the first period, the spins up to a yield.
            for (int i = 0; period == 0 && i < SPINS; i++) {
                idle.idle(0);
            }
            assertEquals(period, counters.arms.get() + counters.sleeps());
            idle.idle(0);
            assertEquals(period + 1, counters.arms.get() + counters.sleeps());
        }
        idle.idle(1);
        idle.idle(0);
        assertEquals(CoreContention.FEWEST_SKIPPED + 1, counters.arms.get() + counters.sleeps(), "it spins again");
    }

    @Test
    void shouldSpinLongerAfterEachSleepThatASpinCouldHaveAvoided() {
        final SpinTime time = new SpinTime(1, HOUR_NS, SystemNanoClock.INSTANCE);
        start(0, HOUR_NS);
        idle.spinTime(time);
        for (int round = 0; round < 4; round++) {
            idle.idle(1);
            assertEquals(1L << round, time.ns());
            while (!queue.isArmed()) {
                idle.idle(0);
            }
            queue.complete();
            idle.idle(0);
            assertEquals(round + 1, counters.sleeps());
            assertEquals(1, poller.doWork());
        }
    }

    @Test
    void shouldSpinAgainAfterAnEvent() {
        final long spinNs = TimeUnit.MILLISECONDS.toNanos(1);
        start(spinNs, HOUR_NS);
        idle.idle(0);
        queue.complete();
        idle.idle(0);
        assertEquals(1, counters.sleeps());
        assertEquals(1, counters.events());
        poller.doWork();
        spinsThrough(spinNs, 2);
    }

    @Test
    void shouldCountAnEventWithoutACompletionAsSpurious() {
        start(0, HOUR_NS);
        for (int round = 0; round < 3; round++) {
            idle.idle(0);
            assertEquals(round, counters.spuriousWakeups());
            queue.raiseIfArmed();
            idle.idle(0);
            assertEquals(round + 1, counters.sleeps());
            assertEquals(round, counters.spuriousWakeups());
        }
        idle.idle(0);
        idle.idle(1);
        assertEquals(3, counters.spuriousWakeups());
        assertEquals(3, counters.events());
        assertEquals(0, counters.sleepTimeouts.get());
    }

    @Test
    void shouldNotCountAnEventWithACompletionAsSpurious() {
        start(0, HOUR_NS);
        idle.idle(0);
        queue.complete();
        idle.idle(0);
        idle.idle(poller.doWork());
        idle.idle(0);
        assertEquals(0, counters.spuriousWakeups());
        assertEquals(2, counters.arms.get());
    }

    @Test
    void shouldNotCountAWakeUpWhoseEventAnotherReaderHasTaken() {
        start(0, HOUR_NS);
        idle.idle(0);
        queue.loseEvents();
        queue.raiseIfArmed();
        idle.idle(0);
        idle.idle(0);
        assertEquals(1, counters.sleeps());
        assertEquals(0, counters.spuriousWakeups());
    }

    @Test
    void shouldReadTheEventsOfAChannelOnceForAllItsQueues() {
        start(0, HOUR_NS);
        final NotifyingScriptedQueue second = new NotifyingScriptedQueue("second", channel);
        poller.queues().add(second);
        idle.idle(0);
        final long calls = second.calls();
        second.raiseIfArmed();
        idle.idle(0);
        assertEquals(calls, second.calls());
        assertEquals(1, counters.events());
        idle.idle(0);
        assertEquals(4, counters.arms.get(), "both queues are armed again");
    }

    @Test
    void shouldFailAQueueThatCannotBeArmed() {
        start(0, 1);
        queue.failAtArm();
        idle.idle(0);
        assertFalse(queue.isArmed());
        assertEquals(0, counters.arms.get());
        assertEquals(1, poller.doWork());
        assertEquals(QueueFault.NOTIFICATION_FAILED, slots.get(0).vendorError());
    }

    @Test
    void shouldWatchTheChannelOfAQueueAddedAfterTheStart(@TempDir final Path folder) throws Exception {
        start(0, HOUR_NS);
        try (Fifo other = new Fifo(Files.createDirectory(folder.resolve("other")))) {
            final NotifyingScriptedQueue added = new NotifyingScriptedQueue("added", other);
            final NotifyingScriptedQueue sharing = new NotifyingScriptedQueue("sharing", other);
            poller.queues().add(added);
            poller.queues().add(sharing);
            idle.idle(0);
            added.complete();
            idle.idle(0);
            assertEquals(1, counters.events());
            assertEquals(1, poller.doWork());
        }
    }

    @Test
    void shouldWatchAChannelUntilItsLastQueueHasLeft() throws TimeoutException {
        final NotifyingScriptedQueue second = new NotifyingScriptedQueue("second", channel);
        start(0, 1);
        poller.queues().add(second);
        poller.queues().remove(queue, 0);
        idle.idle(0);
        second.raiseIfArmed();
        idle.idle(0);
        assertEquals(1, counters.events());
        poller.queues().remove(second, 0);
        channel.raise();
        idle.idle(0);
        assertEquals(1, counters.sleepTimeouts.get());
        poller.queues().add(second);
        idle.idle(0);
        idle.idle(0);
        assertEquals(2, counters.events(), "the channel is watched again");
    }

    @Test
    void shouldNotWatchTheChannelOfAQueueRemovedBeforeTheStart() throws TimeoutException {
        final EventSleeper sleeper = poller.sleepOnEvents(new EventDrivenIdle(0, 1));
        poller.queues().add(queue);
        poller.queues().remove(queue, 0);
        poller.onStart();
        channel.raise();
        sleeper.idle(0);
        assertEquals(1, counters.sleepTimeouts.get());
        assertEquals(0, queue.calls());
    }

    @Test
    void shouldPublishTheCountersBeforeASleep() {
        start(0, 1);
        final CompletionBudget budget = new CompletionBudget(5);
        assertTrue(budget.reserveSend(true, false));
        poller.queues().add(withBudget(budget));
        assertEquals(0, poller.doWork());
        assertEquals(0, counters.polls());
        idle.idle(0);
        idle.idle(0);
        assertEquals(1, counters.sleeps());
        assertEquals(2, counters.polls());
        assertEquals(5, counters.budgetDepth());
        assertEquals(1, counters.budgetInFlight());
    }

    @Test
    void shouldNotWakeUpBeforeItSleeps() {
        start(0, 1);
        idle.wakeUp();
        idle.idle(0);
        idle.idle(0);
        assertEquals(1, counters.sleepTimeouts.get());
    }

    /** Expects one round of spins, which arms or sleeps at its end, after {@code before} such ends. */
    private void spinsThrough(final long spinNs, final long before) {
        idle.idle(0);
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs <= spinNs) {
            Thread.onSpinWait();
        }
        for (int i = 1; i < SPINS; i++) {
            idle.idle(0);
        }
        assertEquals(before, counters.arms.get() + counters.sleeps());
        idle.idle(0);
        assertEquals(before + 1, counters.arms.get() + counters.sleeps());
    }

    /** No yield is a long one, however busy the machine is, and a spin always takes this time. */
    private void start(final long spinNs, final long maxSleepNs) {
        start(spinNs, maxSleepNs, new CoreContention(Long.MAX_VALUE));
    }

    private void start(final long spinNs, final long maxSleepNs, final CoreContention contention) {
        idle = poller.sleepOnEvents(new EventDrivenIdle(spinNs, maxSleepNs));
        idle.contention(contention);
        if (spinNs > 0) {
            idle.spinTime(new SpinTime(spinNs, spinNs, SystemNanoClock.INSTANCE));
        }
        poller.queues().add(queue);
        poller.onStart();
    }

    private static CompletionQueue withBudget(final CompletionBudget budget) {
        return new CompletionQueue() {
            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                return 0;
            }

            @Override
            public String name() {
                return "with budget";
            }

            @Override
            public CompletionBudget budget() {
                return budget;
            }
        };
    }
}
