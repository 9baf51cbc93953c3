package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(10)
class CompletionPollerTest {
    private static final int BATCH_LIMIT = 4;

    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounters counters = new PollerCounters(newCounters(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, BATCH_LIMIT, counters);

    @Test
    void shouldPublishCompletionsInTheOrderOfTheQueue() {
        poller.queues().add(queueOf("a", 1, 2, 3));
        assertEquals(3, poller.doWork());
        assertEquals(3, slots.published());
        for (int i = 0; i < 3; i++) {
            assertEquals(i + 1, slots.get(i).workRequestId());
        }
        assertEquals(3, counters.completions());
    }

    @Test
    void shouldReportNoWorkWhenAllQueuesAreEmpty() {
        poller.queues().add(new ScriptedQueue("a"));
        assertEquals(0, poller.doWork());
        assertEquals(1, counters.polls());
        assertEquals(1, counters.emptyPolls());
    }

    @Test
    void shouldTellWhichQueueACompletionCameFrom() {
        final int a = poller.queues().add(queueOf("a", 1, 2));
        final int b = poller.queues().add(queueOf("b", 3));
        poller.doWork();
        assertEquals(a, slots.get(0).queueIndex());
        assertEquals(a, slots.get(1).queueIndex());
        assertEquals(b, slots.get(2).queueIndex());
        assertEquals("b", poller.queues().name(b));
    }

    @Test
    void shouldTakeNoMoreThanTheBatchLimitFromOneQueueInARound() {
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
    void shouldBeginWithTheQueueThatMissedItsTurnAfterTheRingWasFull() {
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
    void shouldTakeAFailedQueueOutAndReportItOnceOnTheErrorPath() {
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
    void shouldReportAFaultAsSoonAsTheRingHasRoomForIt() {
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
    void shouldNotPollARemovedQueue() throws TimeoutException {
        final ScriptedQueue queue = queueOf("a", 1);
        poller.queues().add(queue);
        poller.queues().remove(queue, 1);
        assertEquals(0, poller.doWork());
        assertEquals(1, queue.size());
    }

    @Test
    void shouldNotLetAQueueGoBeforeThePollerHasFinishedItsDutyCycle() {
        final ScriptedQueue queue = queueOf("a", 1);
        poller.queues().add(queue);
        poller.onStart();
        poller.doWork();
        assertThrows(
            TimeoutException.class, () -> poller.queues().remove(queue, TimeUnit.MILLISECONDS.toNanos(10)));
    }

    @Test
    void shouldLetAQueueGoOnceThePollerHasTakenOverTheRoundWithoutIt() throws Exception {
        final ScriptedQueue queue = queueOf("a", 1);
        poller.queues().add(queue);
        poller.onStart();
        final Thread thread = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                poller.doWork();
            }
        });
        poller.queues().remove(queue, TimeUnit.SECONDS.toNanos(5));
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        thread.interrupt();
        thread.join();
        assertTrue(queue.size() > 0);
    }

    @Test
    void shouldRefuseAQueueThatIsPolledAlready() {
        final ScriptedQueue queue = new ScriptedQueue("a");
        poller.queues().add(queue);
        final IllegalStateException refused =
            assertThrows(IllegalStateException.class, () -> poller.queues().add(queue));
        assertEquals("a is polled already", refused.getMessage());
    }

    @Test
    void shouldNotGiveAnIndexAgainWhileItsQueueIsPolled() throws TimeoutException {
        final int held = poller.queues().add(new ScriptedQueue("held"));
        for (int i = 0; i < QueueRegistry.MAX_QUEUES + 10; i++) {
            final ScriptedQueue passing = new ScriptedQueue("passing");
            assertTrue(poller.queues().add(passing) != held);
            poller.queues().remove(passing, 1);
        }
    }

    private static ScriptedQueue queueOf(final String name, final long... workRequestIds) {
        final ScriptedQueue queue = new ScriptedQueue(name);
        for (final long id : workRequestIds) {
            queue.add(id, WcStatus.SUCCESS, WcOpcode.RDMA_WRITE);
        }
        return queue;
    }

    private static CountersManager newCounters() {
        return new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(64 * 1024)), new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024)));
    }
}
