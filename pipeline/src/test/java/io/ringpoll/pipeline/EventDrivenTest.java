package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.NotifyingQueue;
import io.ringpoll.poller.QueueFault;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.agrona.concurrent.AgentRunner;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A poller that sleeps on real completion channels, with a time-out long enough that a missed event is a failure: on its own
 * thread, or as an agent on that of a runner.
 */
@Tag(TestDevice.TAG)
@Timeout(60)
@ParameterizedClass
@ValueSource(booleans = {false, true})
class EventDrivenTest {
    private static final long FOREVER_NS = TimeUnit.SECONDS.toNanos(40);
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    private final AtomicLong posted = new AtomicLong();
    private final AtomicLong handled = new AtomicLong();
    private final Completions completions = new Completions();
    private final List<AgentRunner> runners = new ArrayList<>();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();
    @Parameter
    private boolean asAgent;
    private ConnectedPair pair;
    private LocalMemoryRegion memory;
    private RemoteMemoryRegion remote;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.ofDefaults();
        memory = pair.memory(4096);
        remote = pair.remote(memory);
    }

    @AfterEach
    void disconnect() {
        runners.forEach(AgentRunner::close);
        pair.close();
        assertEquals(List.of(), errors);
    }

    @ParameterizedTest
    @EnumSource
    void shouldMissNoCompletionBetweenArmAndSleep(final Moment moment) {
        final int rounds = TestDevice.isShort() ? 100 : 2000;
        final VerbsCompletionQueue view = pair.closed(pair.client().completionQueue().openVerbs());
        final CompletionChannel channel = pair.closed(CompletionChannel.borrow(view));
        final RacingQueue racing = new RacingQueue(NotifyingQueue.of(view, channel), moment);
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(racing);
            for (int i = 0; i < rounds; i++) {
                racing.due = true;
                // Ends the sleep so that the queue is armed again and the racing completion is posted. A completion that arrives
                // before the poller sleeps may not end a sleep; then another is needed.
                do {
                    post(i);
                    awaitAllHandled();
                } while (racing.due);
            }
            awaitAllHandled();
            assertEquals(rounds, racing.raced);
            assertTrue(pipeline.pollerCounters().sleeps() > 0);
        }
    }

    @Test
    void shouldMissNoCompletionAtAnyMomentBeforeASleep() {
        final int rounds = TestDevice.isShort() ? 200 : 5000;
        final Random random = new Random(5);
        try (Pipeline pipeline = start(TimeUnit.MICROSECONDS.toNanos(2), FOREVER_NS)) {
            pipeline.addQueue(pair.client().completionQueue());
            for (int i = 0; i < rounds; i++) {
                post(i);
                awaitHandled(i + 1);
                if (i % 16 == 0) {
                    // A poller on this core yields to this thread, and would not sleep.
                    LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(100));
                }
                final long untilNs = System.nanoTime() + random.nextInt(40_000);
                while (System.nanoTime() < untilNs) {
                    Thread.onSpinWait();
                }
            }
            assertTrue(pipeline.pollerCounters().events() > 0);
        }
    }

    @Test
    void shouldRefuseTheVerbsViewOfAQueueThatAnotherPipelinePolls() throws TimeoutException {
        final RpmaCompletionQueue queue = pair.client().completionQueue();
        final VerbsCompletionQueue view = pair.closed(queue.openVerbs());
        final CompletionChannel channel = pair.closed(CompletionChannel.borrow(view));
        assertEquals("the channel is null",
            assertThrows(NullPointerException.class, () -> NotifyingQueue.of(view, null)).getMessage());
        assertEquals("the queue is null",
            assertThrows(NullPointerException.class, () -> NotifyingQueue.of(null, channel)).getMessage());
        try (Pipeline first = start(0, FOREVER_NS); Pipeline second = start(0, FOREVER_NS)) {
            first.addQueue(queue);
            final String poller = first.pollerThread().getName();
            assertEquals(
                view.name() + " is already polled by " + poller + ", as " + queue.name() +
                    ": a queue has one poller; remove it there first",
                assertThrows(IllegalStateException.class, () -> second.addQueue(view)).getMessage());
            assertThrows(IllegalStateException.class, () -> second.addQueue(NotifyingQueue.of(view, channel)));
            assertThrows(IllegalStateException.class, () -> first.addQueue(view));
            first.removeQueue(queue);
            second.addQueue(NotifyingQueue.of(view, channel));
            assertThrows(IllegalStateException.class, () -> first.addQueue(queue));
        }
        try (Pipeline third = start(0, FOREVER_NS)) {
            third.addQueue(queue);
            post(0);
            awaitHandled(1);
        }
    }

    @Test
    void shouldSleepOnOneChannelForBothQueuesOfAConnection() throws TimeoutException {
        try (ConnectedPair shared =
                ConnectedPair.of(config -> config.cqSize(32).rcqSize(32).sharedCompletionChannel(true));
            Pipeline pipeline = start(0, FOREVER_NS)) {
            final LocalMemoryRegion buffer = shared.memory(4096);
            pipeline.addQueue(shared.server().completionQueue());
            pipeline.addQueue(shared.server().receiveCompletionQueue().orElseThrow());
            for (int i = 0; i < 400; i += 2) {
                assertTrue(shared.server().receive(buffer, 0, 64, i));
                assertTrue(shared.client().send(buffer, 64, 64, CompletionFlag.ALWAYS, i));
                awaitHandled(i + 1);
                assertEquals(1, shared.client().completionQueue().poll(completions.records(), 0, 1));
                assertTrue(shared.server().write(shared.remote(buffer), 0, buffer, 64, 8, CompletionFlag.ALWAYS, i));
                awaitHandled(i + 2);
            }
            pipeline.removeQueue(shared.server().completionQueue());
            pipeline.removeQueue(shared.server().receiveCompletionQueue().orElseThrow());
        }
    }

    @Test
    void shouldAcknowledgeEveryEventBeforeTheQueueIsDestroyed() throws TimeoutException {
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(pair.client().completionQueue());
            for (int i = 0; i < 50; i++) {
                post(i);
                awaitHandled(i + 1);
            }
            assertTrue(pipeline.pollerCounters().events() > 0);
            pipeline.removeQueue(pair.client().completionQueue());
            // Destroying a queue waits for acknowledgements: with one missing it would never return.
            pair.close();
        }
    }

    @Test
    void shouldNameTheQueueAndThePollerThatKeepAConnectionOpen() throws TimeoutException {
        final Connection client = pair.client();
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(client.completionQueue());
            assertEquals(
                client.name() + " cannot be closed before its dependents: " + client.completionQueue().name() +
                    " (polled by " + pipeline.pollerThread().getName() + ": remove it there first)",
                assertThrows(IllegalStateException.class, client::close).getMessage());
            pipeline.removeQueue(client.completionQueue());
            client.close();
        }
    }

    @Test
    void shouldExecuteCommandsImmediatelyDuringASleep() throws TimeoutException, InterruptedException {
        final ScriptedQueue other = new ScriptedQueue("other");
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(pair.client().completionQueue());
            awaitSleep(pipeline);
            assertTrue(pipeline.pause(BOUND_NS));
            assertTrue(pipeline.resume(BOUND_NS));
            awaitSleep(pipeline);
            other.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            pipeline.addQueue(other);
            awaitHandled(1);
            pipeline.removeQueue(other);
            awaitSleep(pipeline);
            pipeline.removeQueue(pair.client().completionQueue());
            awaitSleep(pipeline);
            assertTrue(pipeline.close(BOUND_NS).inTime());
        }
    }

    @Test
    void shouldPollAQueueWithoutEventsEachMillisecond() throws InterruptedException {
        final ScriptedQueue silent = new ScriptedQueue("silent");
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(silent);
            pipeline.addQueue(pair.client().completionQueue());
            final long deadlineNs = System.nanoTime() + BOUND_NS;
            while (pipeline.pollerCounters().sleeps() < 10) {
                assertTrue(System.nanoTime() < deadlineNs, "the poller does not sleep in between");
                Thread.sleep(1);
            }
            silent.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            awaitHandled(1);
        }
    }

    @Test
    void shouldRemoveAQueueThatCannotBeArmed() {
        final VerbsCompletionQueue view = pair.closed(pair.client().completionQueue().openVerbs());
        final CompletionChannel channel = pair.closed(CompletionChannel.borrow(view));
        final AtomicInteger code = new AtomicInteger();
        final CompletionHandler listening = new CompletionHandler() {
            @Override
            public void onCompletion(
                final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int faultCode) {
                code.set(faultCode);
                handled.incrementAndGet();
            }
        };
        try (Pipeline pipeline = start(Pipeline.builder().onAll(listening).idleStrategy(new EventDrivenIdle(0, FOREVER_NS)))) {
            pipeline.addQueue(new ForwardingQueue(NotifyingQueue.of(view, channel)) {
                @Override
                public void arm() {
                    throw new IllegalStateException("provoked");
                }
            });
            awaitHandled(1);
            assertEquals(QueueFault.NOTIFICATION_FAILED, code.get());
        }
    }

    @Test
    void shouldCloseItsChannelsWhenThePipelineDoesNotStart() {
        final CompletionHandler failing = new CompletionHandler() {
            @Override
            public void onStart(final SlotControl slots) {
                throw new IllegalStateException("provoked");
            }

            @Override
            public void onCompletion(
                final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            }
        };
        assertThrows(PipelineStartException.class, () -> Pipeline.builder().onAll(failing)
            .queue(pair.client().completionQueue()).idleStrategy(new EventDrivenIdle()).start());
        pair.close();
    }

    @Test
    void shouldCloseTheChannelOfARejectedQueue() {
        final Pipeline pipeline = start(0, FOREVER_NS);
        pipeline.close();
        assertThrows(IllegalStateException.class, () -> pipeline.addQueue(pair.client().completionQueue()));
        pair.close();
    }

    @Test
    void shouldReleaseTheQueuesOnClose() {
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(pair.client().completionQueue());
        }
        pair.close();
    }

    @Test
    @Tag(TestDevice.STEADY_STATE_TAG)
    void shouldUseLessThanOnePercentOfACoreWhileIdle() throws InterruptedException {
        try (Pipeline pipeline = start(EventDrivenIdle.DEFAULT_SPIN_NS, EventDrivenIdle.DEFAULT_MAX_SLEEP_NS)) {
            pipeline.addQueue(pair.client().completionQueue());
            awaitSleep(pipeline);
            double least = Double.MAX_VALUE;
            // The time of a sleep with cold caches on a loaded machine is more; a poller that spins shows in every round.
            for (int round = 0; round < 8 && least >= 1; round++) {
                final long before = THREADS.getThreadCpuTime(pipeline.pollerThread().threadId());
                final long beganNs = System.nanoTime();
                Thread.sleep(1000);
                final long used = THREADS.getThreadCpuTime(pipeline.pollerThread().threadId()) - before;
                least = Math.min(least, 100.0 * used / (System.nanoTime() - beganNs));
            }
            assertTrue(least < 1, least + " % of a core");
        }
    }

    @Test
    @Tag(TestDevice.STEADY_STATE_TAG)
    void shouldAllocateNothingWhileSleepingAndWakingUp() {
        final int wakeUps = 2000;
        try (Pipeline pipeline = start(0, FOREVER_NS)) {
            pipeline.addQueue(pair.client().completionQueue());
            long least = Long.MAX_VALUE;
            // The JVM allocates a little in a round in which it compiles; an allocation per wake-up shows in every round.
            for (int round = 0; round < 8 && least > 0; round++) {
                final long before = THREADS.getThreadAllocatedBytes(pipeline.pollerThread().threadId());
                for (int i = 0; i < wakeUps; i++) {
                    post(i);
                    awaitHandled((long) round * wakeUps + i + 1);
                }
                least = Math.min(least, THREADS.getThreadAllocatedBytes(pipeline.pollerThread().threadId()) - before);
            }
            assertEquals(0, least, "bytes in " + wakeUps + " wake-ups");
        }
    }

    private Pipeline start(final long spinNs, final long maxSleepNs) {
        return start(Pipeline.builder()
            .ringSize(64)
            .idleStrategy(new EventDrivenIdle(spinNs, maxSleepNs))
            .onAll((wc, sequence, endOfBatch) -> handled.incrementAndGet()));
    }

    private Pipeline start(final PipelineBuilder description) {
        if (!asAgent) {
            return description.start();
        }
        final Pipeline pipeline = description.asAgent().start();
        final AgentRunner runner = new AgentRunner(pipeline.agentIdleStrategy(), errors::add, null, pipeline.agent());
        runners.add(runner);
        AgentRunner.startOnThread(runner);
        while (pipeline.pollerThread() == null) {
            Thread.yield();
        }
        return pipeline;
    }

    /** Called by the test's thread and the poller's: with a slow device both may post concurrently. */
    private synchronized void post(final long id) {
        posted.incrementAndGet();
        assertTrue(pair.client().write(remote, 0, memory, 64, 8, CompletionFlag.ALWAYS, id));
    }

    private void awaitHandled(final long count) {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (handled.get() < count) {
            assertTrue(System.nanoTime() < deadlineNs, () -> "only " + handled.get() + " of " + count + " in time");
            Thread.yield();
        }
        assertEquals(count, handled.get());
    }

    private void awaitAllHandled() {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (handled.get() < posted.get()) {
            assertTrue(System.nanoTime() < deadlineNs, () -> "only " + handled.get() + " of " + posted.get() + " in time");
            Thread.yield();
        }
    }

    private static void awaitSleep(final Pipeline pipeline) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (!isAsleep(pipeline)) {
            assertTrue(System.nanoTime() < deadlineNs, "the poller does not sleep");
            Thread.sleep(1);
        }
    }

    /** Whether no poll is made for a while. */
    private static boolean isAsleep(final Pipeline pipeline) throws InterruptedException {
        final long polls = pipeline.pollerCounters().polls();
        Thread.sleep(5);
        return pipeline.pollerCounters().sleeps() > 0 && pipeline.pollerCounters().polls() == polls;
    }

    /** Arrival time of a completion relative to the poller's steps before a sleep. */
    private enum Moment { BEFORE_ARM, AFTER_ARM, AFTER_LAST_POLL }

    /** A queue with one more completion at a given moment before its poller sleeps. */
    private final class RacingQueue extends ForwardingQueue {
        private final Moment moment;
        private volatile boolean due;
        private boolean armed;
        private int raced;

        RacingQueue(final NotifyingQueue queue, final Moment moment) {
            super(queue);
            this.moment = moment;
        }

        @Override
        public void arm() {
            raceAt(Moment.BEFORE_ARM);
            super.arm();
            raceAt(Moment.AFTER_ARM);
            armed = true;
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            final int polled = super.poll(records, first, maxEntries);
            if (armed && polled == 0) {
                armed = false;
                raceAt(Moment.AFTER_LAST_POLL);
            }
            return polled;
        }

        private void raceAt(final Moment now) {
            if (due && now == moment) {
                due = false;
                raced++;
                post(-1);
            }
        }
    }

    /** Forwards all calls. */
    private static class ForwardingQueue implements NotifyingQueue {
        private final NotifyingQueue queue;

        ForwardingQueue(final NotifyingQueue queue) {
            this.queue = queue;
        }

        @Override
        public int poll(final WorkCompletions records, final int first, final int maxEntries) {
            return queue.poll(records, first, maxEntries);
        }

        @Override
        public String name() {
            return queue.name();
        }

        @Override
        public int eventFd() {
            return queue.eventFd();
        }

        @Override
        public void arm() {
            queue.arm();
        }

        @Override
        public int takeEvents() {
            return queue.takeEvents();
        }
    }
}
