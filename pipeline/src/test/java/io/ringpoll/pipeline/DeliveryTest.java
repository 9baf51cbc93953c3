package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.poller.QueueAttachments;
import io.ringpoll.poller.QueueFault;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The loops over published slots, one completion at a time and in batches, on a slab of eight slots. */
@Timeout(60)
class DeliveryTest {
    private static final int SLOTS = 8;
    private static final Set<CompletionPath> ALL = EnumSet.allOf(CompletionPath.class);
    private static final Set<CompletionPath> SENDS = EnumSet.of(CompletionPath.SEND_WRITE);

    private final CompletionSlab slab = new CompletionSlab(SLOTS);
    private final HandlerCounters counters = new HandlerCounters(
        new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(16 * 1024)), new UnsafeBuffer(ByteBuffer.allocateDirect(4 * 1024))),
        "handler");
    private final List<Throwable> logged = new ArrayList<>();
    private final Recording single = new Recording();
    private final RecordingBatches batches = new RecordingBatches();
    private FailurePolicy policy = FailurePolicy.HALT;

    @BeforeEach
    void fill() {
        for (int slot = 0; slot < SLOTS; slot++) {
            put(slot, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }

    @AfterEach
    void free() {
        slab.release();
    }

    @Test
    void shouldDeliverEveryRangeOfTheRing() throws HandlerHalted {
        final Delivery delivery = delivery(ALL);
        final Delivery inBatches = batchDelivery(ALL);
        for (long first = 0; first < 2 * SLOTS; first++) {
            for (long last = first; last < first + SLOTS; last++) {
                final List<String> expected = new ArrayList<>();
                for (long slot = first; slot <= last; slot++) {
                    expected.add(slot + ":" + slot % SLOTS + (slot == last ? " end" : ""));
                }
                single.seen.clear();
                batches.seen.clear();
                assertEquals(expected.size(), delivery.deliver(first, last));
                assertEquals(expected, single.seen);
                assertEquals(expected.size(), inBatches.deliver(first, last));
                assertEquals(expected, batches.seen);
            }
        }
    }

    @Test
    void shouldEndTheBatchAtTheLastSlotOfThePaths() throws HandlerHalted {
        put(1, WcStatus.WR_FLUSH_ERR, WcOpcode.SEND);
        put(3, WcStatus.SUCCESS, WcOpcode.RECV);
        put(4, WcStatus.WR_FLUSH_ERR, WcOpcode.SEND);
        final List<String> expected = List.of("0:0", "2:2 end");
        assertEquals(2, delivery(SENDS).deliver(0, 4));
        assertEquals(expected, single.seen);
        assertEquals(2, batchDelivery(SENDS).deliver(0, 4));
        assertEquals(expected, batches.seen);
    }

    @Test
    void shouldDeliverNothingOfARangeWithoutASlotOfThePaths() throws HandlerHalted {
        for (int slot = 2; slot < 6; slot++) {
            put(slot, WcStatus.SUCCESS, WcOpcode.RECV);
        }
        for (long last = 2; last < 6; last++) {
            assertEquals(0, delivery(SENDS).deliver(2, last));
            assertEquals(0, batchDelivery(SENDS).deliver(2, last));
        }
        assertEquals(List.of(), single.seen);
        assertEquals(List.of(), batches.seen);
        assertEquals(0, batches.calls);
    }

    @Test
    void shouldDeliverAQueueFaultToHandlersOfTheErrorPathOnly() throws HandlerHalted {
        putFault(5);
        assertEquals(1, delivery(ALL).deliver(5, 5));
        assertEquals(List.of("fault of queue 65535: -9"), single.seen);
        assertEquals(1, batchDelivery(EnumSet.of(CompletionPath.ERROR)).deliver(5, 5));
        assertEquals(List.of("fault of queue 65535: -9"), batches.seen);
        assertEquals(0, delivery(SENDS).deliver(5, 5));
        assertEquals(0, batchDelivery(SENDS).deliver(5, 5));
        assertEquals(1, single.seen.size());
        assertEquals(1, batches.seen.size());
        assertEquals(0, batches.calls);
    }

    @Test
    void shouldEndABatchBeforeAFaultAndAfterIt() {
        final Delivery delivery = delivery(ALL);
        assertEquals(SLOTS - 1, delivery.endAtFault(0, SLOTS - 1));
        putFault(3);
        putFault(4);
        assertEquals(2, delivery.endAtFault(0, SLOTS - 1));
        assertEquals(2, delivery.endAtFault(2, SLOTS - 1));
        assertEquals(2, delivery.endAtFault(0, 2));
        assertEquals(2, delivery.endAtFault(0, 3));
        assertEquals(3, delivery.endAtFault(3, SLOTS - 1));
        assertEquals(4, delivery.endAtFault(4, SLOTS - 1));
        assertEquals(SLOTS - 1, delivery.endAtFault(5, SLOTS - 1));
        assertEquals(SLOTS + 4, delivery.endAtFault(5, SLOTS + 4), "the record of a fault, but not in this lap");
        slab.faults().mark(SLOTS + 3);
        assertEquals(SLOTS + 2, delivery.endAtFault(5, SLOTS + 4));
    }

    @Test
    void shouldContinueAfterAnExceptionIfThePolicySaysSo() throws HandlerHalted {
        policy = FailurePolicy.CONTINUE;
        single.failsAt = 6;
        assertEquals(5, delivery(ALL).deliver(5, 9));
        assertEquals(List.of("5:5", "6:6", "7:7", "8:0", "9:1 end"), single.seen);
        batches.fails = true;
        assertEquals(5, batchDelivery(ALL).deliver(5, 9));
        assertEquals(2, counters.exceptions.get());
        assertEquals(List.of(single.failure, batches.failure), logged);
    }

    @Test
    void shouldHaltAtTheCompletionThatFailed() {
        put(4, WcStatus.SUCCESS, WcOpcode.RECV);
        for (final long failing : new long[]{3, 5, 7, 8, 9}) {
            single.seen.clear();
            single.failsAt = failing;
            final HandlerHalted halt = assertThrows(HandlerHalted.class, () -> delivery(SENDS).deliver(3, 9));
            assertSame(single.failure, halt.getCause());
            assertEquals(failing, halt.sequence());
            assertEquals(single.seen.size(), halt.handled());
            assertEquals(failing - 3 + (failing > 4 ? 0 : 1), halt.handled());
        }
    }

    @Test
    void shouldHaltAtTheOnlyCompletion() {
        single.failsAt = 3;
        final HandlerHalted halt = assertThrows(HandlerHalted.class, () -> delivery(ALL).deliver(3, 3));
        assertEquals(3, halt.sequence());
        assertEquals(1, halt.handled());
    }

    @Test
    void shouldHaltAtTheEndOfTheBatchThatFailed() {
        put(1, WcStatus.SUCCESS, WcOpcode.RECV);
        batches.fails = true;
        final HandlerHalted halt = assertThrows(HandlerHalted.class, () -> batchDelivery(SENDS).deliver(5, 9));
        assertSame(batches.failure, halt.getCause());
        assertEquals(8, halt.sequence());
        assertEquals(4, halt.handled());
    }

    @Test
    void shouldHaltAtAFaultWhoseReportFails() {
        putFault(3);
        single.failsAtFault = true;
        final HandlerHalted halt = assertThrows(HandlerHalted.class, () -> delivery(ALL).deliver(3, 3));
        assertSame(single.failure, halt.getCause());
        assertEquals(3, halt.sequence());
        assertEquals(1, halt.handled());
    }

    @Test
    void shouldHaltIfThePolicyThrowsOrDoesNotDecide() {
        single.failsAt = 3;
        policy = (failure, sequence) -> null;
        assertThrows(HandlerHalted.class, () -> delivery(ALL).deliver(3, 3));
        assertEquals(1, counters.exceptions.get());
        final IllegalStateException undecided = new IllegalStateException("undecided");
        policy = (failure, sequence) -> {
            throw undecided;
        };
        assertSame(single.failure, assertThrows(HandlerHalted.class, () -> delivery(ALL).deliver(3, 3)).getCause());
        assertEquals(3, counters.exceptions.get());
        assertEquals(List.of(single.failure, single.failure, undecided), logged);
    }

    @Test
    void shouldNotShowTheSlabAfterItsEnd() throws HandlerHalted {
        final Delivery delivery = delivery(ALL);
        delivery.deliver(0, 1);
        assertEquals(1, single.flyweight.workRequestId());
        delivery.end();
        assertThrows(IllegalStateException.class, single.flyweight::workRequestId);
        final Delivery inBatches = batchDelivery(ALL);
        inBatches.deliver(0, 1);
        final WorkCompletion retained = batches.batch.completion(1);
        assertEquals(2, batches.batch.size());
        inBatches.end();
        assertThrows(IllegalStateException.class, retained::workRequestId);
        assertEquals(0, batches.batch.size());
        assertThrows(IndexOutOfBoundsException.class, () -> batches.batch.completion(0));
    }

    @Test
    void shouldAcceptTheCompletionsOfItsPathsOnly() {
        put(1, WcStatus.SUCCESS, WcOpcode.RECV);
        put(2, WcStatus.WR_FLUSH_ERR, WcOpcode.RECV);
        for (final CompletionPath path : CompletionPath.values()) {
            final Delivery delivery = delivery(EnumSet.of(path));
            for (int slot = 0; slot < 3; slot++) {
                final int offset = slot * IbvWc.SIZE_BYTES;
                final boolean accepted = delivery.accepts(slab.buffer().getLong(offset + IbvWc.STATUS_OFFSET));
                assertEquals(new WorkCompletion().wrap(slab.buffer(), offset).path() == path, accepted);
            }
        }
        assertEquals(0, delivery(SENDS).lastAccepted(0, 2));
        assertEquals(0, delivery(SENDS).lastAccepted(1, 2));
        assertEquals(7, delivery(SENDS).lastAccepted(3, 7));
    }

    private Delivery delivery(final Set<CompletionPath> paths) {
        final HandlerConfig config = config(paths, single, false);
        return identifying(new SingleDelivery(config, slab, new HandlerFailures(config, counters, logged::add), new Names()));
    }

    private Delivery batchDelivery(final Set<CompletionPath> paths) {
        final HandlerConfig config = config(paths, batches, true);
        return identifying(new BatchDelivery(config, slab, new HandlerFailures(config, counters, logged::add), new Names()));
    }

    /** A delivery for which all slots are of the queue with the highest index. */
    private static Delivery identifying(final Delivery delivery) {
        delivery.source(address -> 0xFFFF);
        return delivery;
    }

    private HandlerConfig config(final Set<CompletionPath> paths, final HandlerLifecycle handler, final boolean inBatches) {
        return new HandlerConfig("handler", paths, handler, inBatches, List.of(), null, null, policy, -1, SLOTS, 0, 0);
    }

    private void put(final int slot, final int status, final int opcode) {
        final int offset = slot * IbvWc.SIZE_BYTES;
        slab.buffer().setMemory(offset, IbvWc.SIZE_BYTES, (byte) 0);
        slab.buffer().putLong(offset + IbvWc.WR_ID_OFFSET, slot);
        slab.buffer().putInt(offset + IbvWc.STATUS_OFFSET, status);
        slab.buffer().putInt(offset + IbvWc.OPCODE_OFFSET, opcode);
    }

    /** A fault as the poller publishes it. */
    private void putFault(final int slot) {
        put(slot, QueueFault.STATUS, 0);
        slab.buffer().putInt(slot * IbvWc.SIZE_BYTES + IbvWc.VENDOR_ERR_OFFSET, -9);
        slab.faults().mark(slot);
    }

    private static String shown(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
        return sequence + ":" + wc.workRequestId() + (endOfBatch ? " end" : "");
    }

    /** Records its calls, and fails in one of them. */
    private static final class Recording implements CompletionHandler {
        private final List<String> seen = new ArrayList<>();
        private final IllegalStateException failure = new IllegalStateException("provoked");
        private long failsAt = -1;
        private boolean failsAtFault;
        private WorkCompletion flyweight;

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            flyweight = wc;
            seen.add(shown(wc, sequence, endOfBatch));
            if (sequence == failsAt) {
                throw failure;
            }
        }

        @Override
        public void onQueueFault(final int queueIndex, final String queueName, final int code) {
            seen.add("fault of " + queueName + ": " + code);
            if (failsAtFault) {
                throw failure;
            }
        }
    }

    /** Records its batches. */
    private static final class RecordingBatches implements BatchHandler {
        private final List<String> seen = new ArrayList<>();
        private final IllegalStateException failure = new IllegalStateException("provoked");
        private boolean fails;
        private int calls;
        private CompletionBatch batch;

        @Override
        public void onBatch(final CompletionBatch delivered) {
            calls++;
            batch = delivered;
            for (int i = 0; i < delivered.size(); i++) {
                seen.add(shown(delivered.completion(i), delivered.sequence(i), i == delivered.size() - 1));
            }
            if (fails) {
                throw failure;
            }
        }

        @Override
        public void onQueueFault(final int queueIndex, final String queueName, final int code) {
            seen.add("fault of " + queueName + ": " + code);
        }
    }

    /** Names the queues by their indexes. */
    private static final class Names implements HandlerContext {
        @Override
        public ErrorHandler errorLog() {
            throw new AssertionError("the log is that of the failures");
        }

        @Override
        public String queueName(final int queueIndex) {
            return "queue " + queueIndex;
        }

        @Override
        public boolean hasTimestamps(final int queueIndex) {
            return false;
        }

        @Override
        public QueueAttachments attachments() {
            return new QueueAttachments();
        }

        @Override
        public void onHandlerHalted(final String roleName, final Throwable failure) {
            throw new AssertionError(failure);
        }
    }
}
