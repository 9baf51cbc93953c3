package io.ringpoll.internal.poller;

import static io.ringpoll.internal.poller.Waiting.await;
import static io.ringpoll.internal.poller.Waiting.awaitEnd;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.testing.ProcessResources;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The time-out of a sleep exceeds the tests' time limit, so that a lost wake-up is a failure. */
@Timeout(120)
class EventSleeperTest {
    private static final long FOREVER_NS = TimeUnit.HOURS.toNanos(1);

    private final ArraySlots slots = new ArraySlots(64, 64);
    private final PollerCounterSet counters = new PollerCounterSet(TestCounters.create(), "poller");
    private final CompletionPoller poller = new CompletionPoller("poller", slots, 4, counters);
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    private PollerLoop loop;
    private Thread thread;
    private Fifo channel;

    @BeforeEach
    void open(@TempDir final Path folder) throws IOException, InterruptedException {
        channel = new Fifo(folder);
    }

    @AfterEach
    void end() throws IOException, InterruptedException {
        if (thread != null) {
            loop.stop();
            awaitEnd(thread);
        }
        channel.close();
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldWakeUpForAQueueAddedBeforeTheStart() {
        final NotifyingScriptedQueue queue = new NotifyingScriptedQueue("a", channel);
        prepare(FOREVER_NS);
        poller.queues().add(queue);
        thread.start();
        await(() -> counters.sleeps() == 1);
        queue.complete();
        await(() -> slots.published() == 1);
        await(() -> counters.sleeps() == 2);
        assertEquals(1, counters.events());
        assertEquals(0, counters.sleepTimeouts.get());
    }

    @Test
    void shouldReadEventsThroughARemainingQueueOfTheChannel() throws TimeoutException {
        final NotifyingScriptedQueue first = new NotifyingScriptedQueue("first", channel);
        final NotifyingScriptedQueue second = new NotifyingScriptedQueue("second", channel);
        start(FOREVER_NS);
        poller.queues().add(first);
        poller.queues().add(second);
        await(() -> first.isArmed() && second.isArmed());
        poller.queues().remove(first, FOREVER_NS);
        final long calls = first.calls();
        for (int i = 1; i <= 3; i++) {
            final int published = i;
            await(second::isArmed);
            second.complete();
            await(() -> slots.published() == published);
        }
        // The event of the removed queue is read through the other queue.
        await(second::isArmed);
        first.raiseIfArmed();
        await(() -> counters.events() == 4);
        assertEquals(calls, first.calls());
    }

    @Test
    void shouldStopWatchingADescriptorAfterItsLastQueueHasLeft() throws TimeoutException {
        final NotifyingScriptedQueue queue = new NotifyingScriptedQueue("a", channel);
        start(FOREVER_NS);
        poller.queues().add(queue);
        await(queue::isArmed);
        poller.queues().remove(queue, FOREVER_NS);
        final long calls = queue.calls();
        queue.raiseIfArmed();
        poller.queues().add(new ScriptedQueue("silent"));
        final long sleeps = counters.sleeps();
        await(() -> counters.sleeps() > sleeps + 5);
        assertEquals(calls, queue.calls());
        assertEquals(0, counters.events());
    }

    @Test
    void shouldNotSleepWhenACommandIsSubmittedAfterTheLastPoll() throws InterruptedException {
        final NotifyingScriptedQueue queue = new NotifyingScriptedQueue("a", channel);
        final PollerCommand command = new PollerCommand(() -> { });
        queue.atPollAfterArm(() -> join(Thread.ofPlatform().start(() -> submit(command))));
        start(FOREVER_NS);
        poller.queues().add(queue);
        await(command::isDone);
        await(() -> counters.sleeps() > 0);
    }

    @Test
    void shouldNotSleepWhenStoppedAfterTheLastPoll() throws InterruptedException {
        final NotifyingScriptedQueue queue = new NotifyingScriptedQueue("a", channel);
        queue.atPollAfterArm(() -> join(Thread.ofPlatform().start(poller.commands()::stop)));
        prepare(FOREVER_NS);
        poller.queues().add(queue);
        thread.start();
        await(() -> poller.state() == PollerState.STOPPING);
        loop.stop();
        awaitEnd(thread);
    }

    @Test
    void shouldNotCountAWakeUpByACommandAsATimeOut() throws TimeoutException {
        start(FOREVER_NS);
        for (int i = 1; i <= 20; i++) {
            final int sleeps = i;
            await(() -> counters.sleeps() >= sleeps);
            poller.pause(Deadline.after(FOREVER_NS));
            poller.resume(Deadline.after(FOREVER_NS));
        }
        assertEquals(0, counters.sleepTimeouts.get());
    }

    @Test
    void shouldCountASleepThatTimesOut() {
        start(1);
        await(() -> counters.sleepTimeouts.get() > 3);
        assertTrue(counters.sleepTimeouts.get() <= counters.sleeps());
    }

    @Test
    void shouldFailAllQueuesOfAFailedChannel() {
        final NotifyingScriptedQueue first = new NotifyingScriptedQueue("first", channel);
        final NotifyingScriptedQueue second = new NotifyingScriptedQueue("second", channel);
        first.failAtEvents();
        prepare(FOREVER_NS);
        poller.queues().add(first);
        poller.queues().add(second);
        thread.start();
        await(() -> counters.sleeps() == 1);
        second.raiseIfArmed();
        await(() -> slots.published() == 2);
        assertEquals(QueueFault.NOTIFICATION_FAILED, slots.get(0).vendorError());
        assertEquals(QueueFault.NOTIFICATION_FAILED, slots.get(1).vendorError());
        await(() -> counters.queues.get() == 0);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldFailAQueueWhoseCallsForEventsThrowAnError(final boolean atArm) {
        final NotifyingScriptedQueue other = new NotifyingScriptedQueue("other", channel);
        prepare(FOREVER_NS);
        poller.queues().add(new ErrorQueue(channel, atArm));
        thread.start();
        if (!atArm) {
            await(() -> counters.sleeps() == 1);
            channel.raise();
        }
        await(() -> slots.published() == 1);
        assertEquals(QueueFault.NOTIFICATION_FAILED, slots.get(0).vendorError());
        await(() -> counters.queues.get() == 0);
        poller.queues().add(other);
        await(other::isArmed);
    }

    /** A queue of a user with a defect. */
    private record ErrorQueue(Fifo channel, boolean atArm) implements NotifyingQueue {
        @Override
        public int eventFd() {
            return channel.fd();
        }

        @Override
        public void arm() {
            if (atArm) {
                throw new StackOverflowError("provoked");
            }
        }

        @Override
        public int takeEvents() {
            throw new StackOverflowError("provoked");
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return 0;
        }

        @Override
        public String name() {
            return "with an error";
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, -5})
    void shouldRejectAQueueWithANegativeDescriptor(final int descriptor) {
        start(FOREVER_NS);
        final CompletionQueue negative = withDescriptor(() -> descriptor);
        assertEquals("of a user cannot be added: the descriptor of its events is " + descriptor,
            assertThrows(IllegalStateException.class, () -> poller.queues().add(negative)).getMessage());
        assertEquals(0, poller.queues().size());
        final NotifyingScriptedQueue other = new NotifyingScriptedQueue("other", channel);
        poller.queues().add(other);
        await(other::isArmed);
    }

    @Test
    void shouldRejectAQueueWithoutDescriptor() {
        start(FOREVER_NS);
        final CompletionQueue without = withoutDescriptor();
        assertEquals("provoked", assertThrows(IllegalStateException.class, () -> poller.queues().add(without)).getMessage());
        assertEquals(0, poller.queues().size());
    }

    @Test
    void shouldCloseItsDescriptorsWhenThePollerEnds() throws InterruptedException {
        final int before = ProcessResources.fileDescriptors();
        final int pollers = 50;
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < pollers; i++) {
            prepare(newPoller(), FOREVER_NS);
            thread.start();
            threads.add(thread);
            loop.stop();
        }
        for (final Thread ended : threads) {
            awaitEnd(ended);
        }
        assertTrue(ProcessResources.fileDescriptors() < before + pollers, "descriptors leaked");
    }

    @Test
    void shouldOpenNoDescriptorForAPollerThatNeverStarts() {
        final int before = ProcessResources.fileDescriptors();
        final int pollers = 50;
        for (int i = 0; i < pollers; i++) {
            final CompletionPoller never = newPoller();
            prepare(never, FOREVER_NS);
            never.queues().add(new NotifyingScriptedQueue("a", channel));
        }
        assertTrue(ProcessResources.fileDescriptors() < before + pollers, "descriptors leaked");
        thread = null;
    }

    private void start(final long maxSleepNs) {
        prepare(maxSleepNs);
        thread.start();
    }

    private void prepare(final long maxSleepNs) {
        prepare(poller, maxSleepNs);
    }

    private void prepare(final CompletionPoller polled, final long maxSleepNs) {
        final PollerLoop prepared = new PollerLoop(polled, new EventDrivenIdle(0, maxSleepNs), -1, errors::add);
        loop = prepared;
        thread = Thread.ofPlatform().daemon().unstarted(() -> {
            prepared.onStart();
            prepared.run();
        });
    }

    private CompletionPoller newPoller() {
        return new CompletionPoller("poller", slots, 4, new PollerCounterSet(TestCounters.create(), "poller"));
    }

    private void submit(final PollerCommand command) {
        try {
            poller.commands().submit(command, Deadline.after(0));
        } catch (final TimeoutException full) {
            errors.add(full);
        }
    }

    private void join(final Thread other) {
        try {
            other.join();
        } catch (final InterruptedException interrupted) {
            errors.add(interrupted);
        }
    }

    private static CompletionQueue withoutDescriptor() {
        return withDescriptor(() -> {
            throw new IllegalStateException("provoked");
        });
    }

    private static CompletionQueue withDescriptor(final IntSupplier descriptor) {
        return new NotifyingQueue() {
            @Override
            public int eventFd() {
                return descriptor.getAsInt();
            }

            @Override
            public void arm() {
                throw new AssertionError("armed");
            }

            @Override
            public int takeEvents() {
                throw new AssertionError("events read");
            }

            @Override
            public int poll(final WorkCompletions records, final int first, final int maxEntries) {
                throw new AssertionError("polled");
            }

            @Override
            public String name() {
                return "of a user";
            }
        };
    }
}
