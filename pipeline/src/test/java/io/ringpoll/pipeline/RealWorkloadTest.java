package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.os.Deadline;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Real work requests through librpma, with handlers that are slow, stop, throw or halt: each posted request completes once.
 */
@Tag(TestDevice.TAG)
@Timeout(120)
class RealWorkloadTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final int COUNT = TestDevice.isShort() ? 2_000 : 60_000;

    private static final int ROUND_TRIPS = 400;

    /** Occurrences by work request; each index is written by one handler's thread. */
    private final int[] writes = new int[COUNT];
    private final int[] receives = new int[COUNT];
    private final AtomicInteger flushed = new AtomicInteger();
    private volatile int lastReceived = -1;
    private ConnectedPair pair;
    private volatile Pipeline running;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.of(config -> config.cqSize(128).sqSize(64).rqSize(64).rcqSize(64));
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldLoseNothingBehindASlowHandler() {
        final Random random = new Random(3);
        try (Pipeline pipeline = start(FailurePolicy.CONTINUE, id -> {
            if (random.nextInt(500) == 0) {
                LockSupport.parkNanos(TimeUnit.MICROSECONDS.toNanos(500));
            }
        })) {
            assertEquals(COUNT, postAll(pipeline));
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertAllOnce();
        }
    }

    @Test
    void shouldLoseNothingWhenAHandlerPausesForASecond() {
        try (Pipeline pipeline = start(FailurePolicy.CONTINUE, id -> {
            if (id == COUNT / 2) {
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
                awaitFullRing();
            }
        })) {
            assertEquals(COUNT, postAll(pipeline));
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertAllOnce();
            assertTrue(pipeline.pollerCounters().ringFullStalls() > 0, "the ring was never full");
        }
    }

    @Test
    void shouldRecoverItsLatencyAfterAHandlerHasPaused() {
        try (Pipeline pipeline = start(FailurePolicy.CONTINUE, id -> {
            if (id == ROUND_TRIPS) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(300));
                awaitFullRing();
            }
        })) {
            final LocalMemoryRegion memory = pair.memory(64);
            final long beforeNs = medianRoundTrip(memory, 0);
            for (int id = ROUND_TRIPS; id < 2 * ROUND_TRIPS; id++) {
                post(memory, id);
            }
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertTrue(pipeline.pollerCounters().ringFullStalls() > 0, "the ring was never full");
            final long afterNs = medianRoundTrip(memory, 2 * ROUND_TRIPS);
            // A busy machine may take many time slices; a thread that is not woken takes the bound of its park, a minute.
            assertTrue(afterNs < 10 * beforeNs + TimeUnit.SECONDS.toNanos(5), afterNs + " ns, and " + beforeNs + " before");
        }
    }

    @Test
    void shouldLoseNothingWhenAHandlerThrowsAtRandom() {
        final Random random = new Random(4);
        final AtomicInteger thrown = new AtomicInteger();
        try (Pipeline pipeline = start(FailurePolicy.CONTINUE, id -> {
            if (random.nextInt(200) == 0) {
                thrown.incrementAndGet();
                throw new IllegalStateException("provoked");
            }
        })) {
            assertEquals(COUNT, postAll(pipeline));
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertAllOnce();
            assertEquals(thrown.get(), pipeline.handlerExceptions());
            assertTrue(thrown.get() > 0);
        }
    }

    @Test
    void shouldAccountForEveryRequestWhenAHandlerHalts() {
        final int[] writesLeft = new int[COUNT];
        final int[] receivesLeft = new int[COUNT];
        final Pipeline pipeline = builder(FailurePolicy.HALT, id -> {
            if (id == COUNT / 2) {
                throw new IllegalStateException("provoked");
            }
        }).onUndelivered(completion -> {
            if (completion.path() == CompletionPath.RECEIVE) {
                receivesLeft[completion.immediate()]++;
            } else {
                writesLeft[(int) completion.workRequestId()]++;
            }
        }).start();
        addQueues(pipeline);
        final int posted = postAll(pipeline);
        assertTrue(posted > COUNT / 2 && posted < COUNT, "posted " + posted);
        final PipelineReport report = pipeline.close(BOUND_NS);
        assertTrue(report.inTime());
        assertEquals(sum(writesLeft) + sum(receivesLeft), report.inQueues());
        int behind = 0;
        for (int id = 0; id < posted; id++) {
            assertEquals(1, writes[id] + writesLeft[id], "write " + id);
            assertTrue(receives[id] + receivesLeft[id] <= 1, "receive " + id + " was seen twice");
            assertTrue(id > COUNT / 2 || receives[id] == 1, "receive " + id + " precedes the halt of the handler");
            behind += 1 - receives[id] - receivesLeft[id];
        }
        // Completions that the halted handler has not handled are in the ring, and reported as unhandled.
        assertEquals(report.polled(), sum(writes) + sum(receives) + behind);
        assertEquals(0, flushed.get());
    }

    @Test
    void shouldReportAnOverrunQueueOnTheErrorPath() {
        final AtomicReference<String> failed = new AtomicReference<>();
        final AtomicInteger code = new AtomicInteger();
        final CompletionHandler errors = new CompletionHandler() {
            @Override
            public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
                flushed.incrementAndGet();
            }

            @Override
            public void onQueueFault(final int queueIndex, final String queueName, final int faultCode) {
                code.set(faultCode);
                failed.set(queueName);
            }
        };
        try (ConnectedPair small = ConnectedPair.of(config -> config.cqSize(4).sqSize(1000).rcqSize(4));
            Pipeline pipeline = Pipeline.builder().ringSize(64)
                .onSendWrite((wc, sequence, endOfBatch) -> { }).onReceive((wc, sequence, endOfBatch) -> { }).onError(errors)
                .start();
            AsyncEvents.Subscription watch = pipeline.watch(small.peer().context())) {
            pipeline.addQueue(small.client().completionQueue().withoutBudget());
            pipeline.addQueue(small.server().receiveCompletionQueue().orElseThrow());
            assertTrue(pipeline.pause(BOUND_NS));
            for (int i = 0; i < 500 && small.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, i); i++) {
                Thread.onSpinWait();
            }
            assertTrue(pipeline.resume(BOUND_NS));
            final long deadlineNs = System.nanoTime() + BOUND_NS;
            while (failed.get() == null) {
                assertTrue(System.nanoTime() < deadlineNs, "the overrun was not reported");
                Thread.yield();
            }
            assertEquals(small.client().completionQueue().name(), failed.get());
            assertTrue(code.get() < 0);
            assertEquals(1, pipeline.pollerCounters().queueFaults());
            // The other queue is still polled.
            final long polls = pipeline.pollerCounters().polls();
            while (pipeline.pollerCounters().polls() < polls + 10) {
                assertTrue(System.nanoTime() < deadlineNs, "polling has ended");
                Thread.yield();
            }
        }
    }

    private Pipeline start(final FailurePolicy policy, final Behaviour behaviour) {
        running = builder(policy, behaviour).start();
        addQueues(running);
        return running;
    }

    /** Waits within a limit, in a handler, until the posting thread and the poller have had their CPUs and filled the ring. */
    private void awaitFullRing() {
        Deadline.after(BOUND_NS / 2).await(() -> running.pollerCounters().ringFullStalls() > 0);
    }

    private PipelineBuilder builder(final FailurePolicy policy, final Behaviour behaviour) {
        return Pipeline.builder()
            .ringSize(64)
            .onSendWrite((wc, sequence, endOfBatch) -> writes[(int) wc.workRequestId()]++)
            .onReceive((wc, sequence, endOfBatch) -> {
                receives[wc.immediate()]++;
                behaviour.accept(wc.immediate());
                lastReceived = wc.immediate();
            }, options -> options.failurePolicy(policy))
            .onError((wc, sequence, endOfBatch) -> flushed.incrementAndGet());
    }

    private void addQueues(final Pipeline pipeline) {
        pipeline.addQueue(pair.client().completionQueue());
        pipeline.addQueue(pair.server().receiveCompletionQueue().orElseThrow());
    }

    /** Posts writes with immediate data and a receive for each, until all are posted or the pipeline has failed. */
    private int postAll(final Pipeline pipeline) {
        final LocalMemoryRegion memory = pair.memory(64);
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        boolean received = false;
        int next = 0;
        while (next < COUNT && pipeline.failure() == null) {
            assertTrue(System.nanoTime() < deadlineNs, "posted only " + next);
            received = received || pair.server().receive(memory, 0, 8, next);
            if (received && pair.client().writeWithImmediate(null, 0, null, 0, 0, CompletionFlag.ALWAYS, next, next)) {
                received = false;
                next++;
            } else {
                Thread.yield();
            }
        }
        return next;
    }

    /** Median time from a post to the handler of its receive, one after the other. */
    private long medianRoundTrip(final LocalMemoryRegion memory, final int firstId) {
        final long[] elapsedNs = new long[ROUND_TRIPS];
        for (int i = 0; i < ROUND_TRIPS; i++) {
            final long startNs = System.nanoTime();
            post(memory, firstId + i);
            while (lastReceived < firstId + i) {
                assertTrue(System.nanoTime() - startNs < BOUND_NS, "a receive was not handled");
                Thread.yield();
            }
            elapsedNs[i] = System.nanoTime() - startNs;
        }
        Arrays.sort(elapsedNs);
        return elapsedNs[ROUND_TRIPS / 2];
    }

    private void post(final LocalMemoryRegion memory, final int id) {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (!pair.server().receive(memory, 0, 8, id)) {
            assertTrue(System.nanoTime() < deadlineNs, "no room for a receive");
        }
        while (!pair.client().writeWithImmediate(null, 0, null, 0, 0, CompletionFlag.ALWAYS, id, id)) {
            assertTrue(System.nanoTime() < deadlineNs, "no room for a write");
        }
    }

    private void assertAllOnce() {
        for (int id = 0; id < COUNT; id++) {
            assertEquals(1, writes[id], "write " + id);
            assertEquals(1, receives[id], "receive " + id);
        }
        assertEquals(0, flushed.get());
    }

    private static int sum(final int[] counts) {
        int sum = 0;
        for (final int count : counts) {
            sum += count;
        }
        return sum;
    }

    /** Action of the receive handler after it has recorded a completion. */
    private interface Behaviour {
        void accept(int id);
    }
}
