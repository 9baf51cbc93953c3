package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import java.lang.ref.WeakReference;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class QueueRegistryTest {
    private final ArraySlots slots = new ArraySlots(64, 64);
    private final CompletionPoller poller =
        new CompletionPoller("poller", slots, 4, new PollerCounters(TestCounters.create(), "poller"));

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
    void shouldNotLetAQueueGoBeforeThePollerHasFinishedItsDutyCycle() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        startOnAnotherThread();
        poller.doWork();
        final TimeoutException late = assertThrows(
            TimeoutException.class, () -> poller.queues().remove(queue, TimeUnit.MILLISECONDS.toNanos(10)));
        assertTrue(late.getMessage().startsWith("the poller did not let go of a within "), late.getMessage());
        assertEquals(1, poller.queues().size());
        poller.doWork();
        poller.onClose();
        poller.queues().remove(queue, 1);
        assertEquals(0, poller.queues().size());
    }

    @Test
    void shouldLetAQueueGoOnceThePollerIsBetweenTwoDutyCycles() throws Exception {
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
        poller.queues().remove(queue, TimeUnit.SECONDS.toNanos(5));
        final int left = queue.size();
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        Thread.sleep(5);
        thread.interrupt();
        thread.join();
        assertEquals(left + 1, queue.size());
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
            assertNotEquals(held, poller.queues().add(passing));
            poller.queues().remove(passing, 1);
        }
    }

    @Test
    void shouldHoldNothingOfAQueueThatHasLeftButItsNameForAWhile() throws Exception {
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
    void shouldRefuseACommandWithinItsBoundWhenThePollerTakesNone() throws InterruptedException {
        startOnAnotherThread();
        final TimeoutException full = assertThrows(TimeoutException.class, () -> {
            for (int i = 0; i <= CommandQueue.CAPACITY; i++) {
                poller.commands().submit(new PollerCommand(() -> { }), System.nanoTime() + 1_000_000);
            }
        });
        assertTrue(full.getMessage().contains(CommandQueue.CAPACITY + " are waiting"), full.getMessage());
    }

    @Test
    void shouldPollThousandsOfQueuesThatComeAndGoWhileItRuns() throws Exception {
        final ArraySlots many = new ArraySlots(20_000, 20_000);
        final CompletionPoller busy =
            new CompletionPoller("poller", many, 4, new PollerCounters(TestCounters.create(), "poller"));
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
        busy.awaitEmptyRound(System.nanoTime() + TimeUnit.SECONDS.toNanos(10));
        for (final ScriptedQueue queue : queues) {
            assertEquals(0, queue.size());
            busy.queues().remove(queue, TimeUnit.SECONDS.toNanos(5));
        }
        thread.interrupt();
        thread.join();
        assertEquals(queues.length, many.published());
    }

    @Test
    void shouldLetAQueueGoAtOnceWhenThePollingThreadItselfAsksForIt() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        poller.onStart();
        poller.queues().add(queue);
        assertEquals(1, poller.doWork());
        poller.queues().remove(queue, 1);
        queue.add(2, WcStatus.SUCCESS, WcOpcode.SEND);
        assertEquals(0, poller.doWork());
        assertEquals(1, queue.size());
    }

    /** As if a poller ran there that makes no duty cycle of its own. */
    private void startOnAnotherThread() throws InterruptedException {
        Thread.ofPlatform().start(poller::onStart).join();
    }

    private static ScriptedQueue queueOfOne() {
        return new ScriptedQueue("a").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
    }
}
