package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.poller.SyntheticQueue;
import java.util.BitSet;
import java.util.EnumMap;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Handlers that are slow, stop, throw or halt under load: each completion is accounted for by its id. */
@Timeout(60)
class BackPressureTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final long LONG_STALL_NS = TimeUnit.MILLISECONDS.toNanos(900);

    private final Map<CompletionPath, BitSet> seen = new EnumMap<>(CompletionPath.class);
    private final Map<CompletionPath, Integer> repeated = new EnumMap<>(CompletionPath.class);

    @Test
    void shouldLoseNothingBehindASlowHandlerAndIdentifyIt() {
        final int count = 60_000;
        final Random random = new Random(42);
        final AtomicReference<Pipeline> started = new AtomicReference<>();
        final AtomicBoolean blamed = new AtomicBoolean();
        try (Pipeline pipeline = start(count, 512, FailurePolicy.CONTINUE, id -> {
            if (random.nextInt(100) == 0) {
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
            }
            if (id == 54_001) {
                // Another handler may have lost its CPU and stalled the ring meanwhile.
                blamed.set(isBlamedInTheEnd(started, "ringpoll-receive"));
            }
        })) {
            started.set(pipeline);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertTrue(pipeline.pollerCounters().ringFullStalls() > 0);
            assertTrue(pipeline.pollerCounters().ringFull() >= pipeline.pollerCounters().ringFullStalls());
        }
        assertTrue(blamed.get());
        assertAllSeenOnce(count);
    }

    @Test
    void shouldLoseNothingWhenAHandlerPausesForASecondAndCountTheStall() {
        final int count = 300_000;
        final AtomicReference<Pipeline> started = new AtomicReference<>();
        try (Pipeline pipeline = start(count, 1024, FailurePolicy.CONTINUE, id -> {
            if (id == 3001) {
                LockSupport.parkNanos(TimeUnit.SECONDS.toNanos(1));
                // The poller, or a handler that has to pass the slots too, may not have had its CPU all the time.
                awaitStall(started, "ringpoll-receive");
            }
        })) {
            started.set(pipeline);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertTrue(pipeline.causedStallNs("ringpoll-receive") > LONG_STALL_NS);
        }
        assertAllSeenOnce(count);
    }

    @Test
    void shouldLoseNothingWhenAHandlerThrowsAtRandom() {
        final int count = 300_000;
        final Random random = new Random(43);
        final int[] thrown = new int[1];
        try (Pipeline pipeline = start(count, 1024, FailurePolicy.CONTINUE, id -> {
            if (random.nextInt(1000) == 0) {
                thrown[0]++;
                throw new IllegalStateException("provoked");
            }
        })) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(thrown[0], pipeline.handlerExceptions());
        }
        assertTrue(thrown[0] > 0);
        assertAllSeenOnce(count);
    }

    @Test
    void shouldAccountForEveryCompletionWhenAHandlerHalts() {
        final int count = 300_000;
        final BitSet left = new BitSet();
        final int dying = 30_001;
        final Pipeline pipeline = builder(count, 1024, FailurePolicy.HALT, id -> {
            if (id == dying) {
                throw new IllegalStateException("provoked");
            }
        }).onUndelivered(completion -> left.set((int) completion.workRequestId())).start();
        while (pipeline.failure() == null) {
            Thread.yield();
        }
        final PipelineReport report = pipeline.close(BOUND_NS);
        assertTrue(report.inTime());
        assertEquals(count, report.polled() + report.inQueues(), "each completion was polled or is still in the queue");
        assertEquals(report.inQueues(), left.cardinality());
        assertEquals(report.polled(), left.nextSetBit(0), "undelivered completions follow the polled ones");
        for (int id = 0; id < report.polled(); id++) {
            final CompletionPath path = SyntheticQueue.path(id);
            final boolean expected = path != CompletionPath.RECEIVE || id <= dying;
            assertEquals(expected, seen.get(path).get(id), "completion " + id);
        }
        assertEquals(Map.of(), repeated);
    }

    /** Continues to be slow until this handler has caused more stall time than the others together, within a limit. */
    private static boolean isBlamedInTheEnd(final AtomicReference<Pipeline> started, final String slowHandler) {
        final long deadlineNs = System.nanoTime() + BOUND_NS / 2;
        while (System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
            final Pipeline pipeline = started.get();
            if (pipeline != null && 2 * pipeline.causedStallNs(slowHandler) > pipeline.causedStallNs("ringpoll-send-write") +
                pipeline.causedStallNs("ringpoll-receive") + pipeline.causedStallNs("ringpoll-error")) {
                return true;
            }
        }
        return false;
    }

    /** Waits until a handler has stalled the poller for long, within a limit. */
    private static void awaitStall(final AtomicReference<Pipeline> started, final String handler) {
        final long deadlineNs = System.nanoTime() + BOUND_NS / 2;
        while (System.nanoTime() - deadlineNs < 0 &&
            (started.get() == null || started.get().causedStallNs(handler) <= LONG_STALL_NS)) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(2));
        }
    }

    /** Action of the receive handler before it records a completion. */
    private interface Behaviour {
        void accept(long workRequestId);
    }

    private Pipeline start(final long count, final int ringSize, final FailurePolicy policy, final Behaviour receive) {
        return builder(count, ringSize, policy, receive).start();
    }

    private PipelineBuilder builder(
        final long count, final int ringSize, final FailurePolicy policy, final Behaviour receive) {
        for (final CompletionPath path : CompletionPath.values()) {
            seen.put(path, new BitSet());
        }
        return Pipeline.builder()
            .ringSize(ringSize)
            .onSendWrite((wc, sequence, endOfBatch) -> note(CompletionPath.SEND_WRITE, wc.workRequestId()))
            .onReceive(
                (wc, sequence, endOfBatch) -> {
                    note(CompletionPath.RECEIVE, wc.workRequestId());
                    receive.accept(wc.workRequestId());
                },
                options -> options.failurePolicy(policy))
            .onError((wc, sequence, endOfBatch) -> note(CompletionPath.ERROR, wc.workRequestId()))
            .queue(new SyntheticQueue("queue", count));
    }

    private void note(final CompletionPath path, final long id) {
        final BitSet ids = seen.get(path);
        if (ids.get((int) id)) {
            repeated.merge(path, 1, Integer::sum);
        }
        ids.set((int) id);
    }

    private void assertAllSeenOnce(final int count) {
        assertEquals(Map.of(), repeated);
        for (int id = 0; id < count; id++) {
            assertTrue(seen.get(SyntheticQueue.path(id)).get(id), "completion " + id + " was lost");
        }
        assertEquals(count, seen.values().stream().mapToInt(BitSet::cardinality).sum());
    }
}
