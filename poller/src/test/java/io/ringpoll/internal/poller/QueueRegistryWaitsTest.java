package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.ScriptedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Additions and removals that wait for the poller, the names of removed queues, and the queues that remain at its end. */
@Timeout(60)
class QueueRegistryWaitsTest {
    private final ArraySlots slots = new ArraySlots(64, 64);
    private final CompletionPoller poller =
        new CompletionPoller("poller", slots, 4, new PollerCounterSet(TestCounters.create(), "poller"));

    @Test
    void shouldRetainTheNamesOf1024RemovedQueues() throws TimeoutException {
        final ScriptedQueue queue = queueOfOne();
        final int index = poller.queues().add(queue);
        poller.queues().remove(queue, 1);
        final ScriptedQueue passing = new ScriptedQueue("passing");
        for (int i = 1; i < 1024; i++) {
            poller.queues().add(passing);
            poller.queues().remove(passing, 1);
        }
        assertEquals("a", poller.queues().name(index));
        poller.queues().add(passing);
        poller.queues().remove(passing, 1);
        assertEquals("completion queue " + index, poller.queues().name(index));
    }

    @Test
    void shouldReleaseAQueueWhoseAdditionEndsWithThePoller() throws Exception {
        startOnAnotherThread();
        fillCommands();
        final ScriptedQueue queue = queueOfOne();
        final FutureTask<Integer> addition = new FutureTask<>(() -> poller.queues().add(queue));
        Thread.ofPlatform().daemon().start(addition);
        Waiting.await(() -> poller.queues().size() == 1);
        poller.commands().stop();
        final Throwable refused = assertThrows(ExecutionException.class, addition::get).getCause();
        assertEquals("a cannot be added: the poller is stopping", refused.getMessage());
        assertEquals(0, poller.queues().size());
        final CompletionPoller other =
            new CompletionPoller("other", new ArraySlots(64, 64), 4, new PollerCounterSet(TestCounters.create(), "other"));
        other.queues().add(queue);
        other.onClose();
    }

    @Test
    void shouldEndTheWaitForACommandThatThrows() throws Exception {
        startOnAnotherThread();
        final PollerCommand throwing = new PollerCommand(() -> {
            throw new IllegalStateException("provoked");
        });
        poller.commands().submit(throwing, Deadline.after(0));
        final FutureTask<Void> waiting = new FutureTask<>(() -> {
            throwing.await(Deadline.after(Long.MAX_VALUE), "remove a");
            return null;
        });
        Thread.ofPlatform().daemon().start(waiting);
        assertThrows(IllegalStateException.class, poller::doWork);
        assertEquals("the poller cannot remove a: it has failed at the command",
            assertThrows(ExecutionException.class, waiting::get).getCause().getMessage());
    }

    @Test
    void shouldParkWhileAnAdditionOrARemovalWaits() throws Exception {
        final ScriptedQueue queue = queueOfOne();
        poller.queues().add(queue);
        startOnAnotherThread();
        final Thread removing = Thread.ofPlatform().daemon().start(() -> {
            try {
                poller.queues().remove(queue, Long.MAX_VALUE);
            } catch (final TimeoutException late) {
                throw new AssertionError(late);
            }
        });
        Waiting.await(() -> removing.getState() == Thread.State.TIMED_WAITING);
        for (int i = 1; i < CommandQueue.CAPACITY; i++) {
            poller.commands().submit(new PollerCommand(() -> { }), Deadline.after(0));
        }
        final Thread adding = Thread.ofPlatform().daemon().start(() -> poller.queues().add(new ScriptedQueue("b")));
        Waiting.await(() -> adding.getState() == Thread.State.TIMED_WAITING);
        poller.doWork();
        Waiting.awaitEnd(removing);
        Waiting.awaitEnd(adding);
        assertEquals(1, poller.queues().size());
    }

    @Test
    void shouldPollTheRemainingQueuesAfterItsEndOnly() throws TimeoutException {
        final WorkCompletions records = WorkCompletions.allocate(4);
        final ScriptedQueue queue = queueOfOne();
        final ScriptedQueue second = new ScriptedQueue("b").add(7, WcStatus.SUCCESS, WcOpcode.SEND);
        poller.queues().add(queue);
        poller.queues().add(second);
        poller.onStart();
        assertEquals("the poller is running",
            assertThrows(IllegalStateException.class, () -> poller.queues().pollRemaining(queue, records, 0, 4)).getMessage());
        poller.onClose();
        assertEquals(1, poller.queues().pollRemaining(second, records, 0, 4));
        assertEquals(0, poller.queues().pollRemaining(second, records, 0, 4));
        assertEquals(1, queue.size());
        poller.queues().remove(queue, 0);
        assertEquals(0, poller.queues().pollRemaining(queue, records, 0, 4));
        assertEquals(1, queue.size());
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

    private static ScriptedQueue queueOfOne() {
        return new ScriptedQueue("a").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
    }
}
