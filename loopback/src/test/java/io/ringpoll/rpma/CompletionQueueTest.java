package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.RawAddress;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** rpma_cq_get_wc: one and many entries, each of its results, and the queue of each completion. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class CompletionQueueTest {
    private static final int WRITES = 8;

    private final Completions completions = new Completions();

    @Test
    void shouldGiveOneCompletionOfMany() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            postWrites(pair);
            for (int i = 0; i < WRITES; i++) {
                completions.await(queue, 1);
                assertEquals(i, completions.at(0).workRequestId());
            }
            assertEquals(0, queue.poll(completions.records(), 0, 1));
        }
    }

    @Test
    void shouldGiveManyCompletionsAtOnceInTheOrderOfTheirPosts() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            postWrites(pair);
            completions.await(pair.client().completionQueue(), WRITES);
            for (int i = 0; i < WRITES; i++) {
                assertEquals(i, completions.at(i).workRequestId());
            }
        }
    }

    @Test
    void shouldNotWriteBeyondWhatItWasAskedFor() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            postWrites(pair);
            awaitIndirectly(pair);
            completions.memory().setMemory(0, completions.memory().capacity(), (byte) 0x5A);
            int got = 0;
            while (got < 3) {
                got += queue.poll(completions.records(), got, 3 - got);
            }
            for (int i = 3 * IbvWc.SIZE_BYTES; i < completions.memory().capacity(); i++) {
                assertEquals((byte) 0x5A, completions.memory().getByte(i));
            }
            completions.await(queue, WRITES + 1 - 3);
        }
    }

    @Test
    void shouldLetTheCountBeNullForOneEntryOnly() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final long cq = RawAddress.of(pair.client().completionQueue());
            assertEquals(RpmaError.INVAL, Librpma.COMPLETION.rpma_cq_get_wc(CallTurn.PLAIN, cq, 2, completions.address(), 0));
            assertEquals(RpmaError.NO_COMPLETION,
                Librpma.COMPLETION.rpma_cq_get_wc(CallTurn.PLAIN, cq, 1, completions.address(), 0));
            postWrites(pair);
            int result = RpmaError.NO_COMPLETION;
            while (result == RpmaError.NO_COMPLETION) {
                result = Librpma.COMPLETION.rpma_cq_get_wc(CallTurn.PLAIN, cq, 1, completions.address(), 0);
            }
            assertEquals(0, result);
            assertEquals(0, completions.at(0).workRequestId());
            assertEquals(WcStatus.SUCCESS, completions.at(0).status());
        }
    }

    @Test
    void shouldAnswerWithInvalOnBadArguments() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            assertEquals(RpmaError.INVAL, queue.poll(completions.records(), 0, 0));
            assertThrows(IndexOutOfBoundsException.class, () -> queue.poll(completions.records(), 0, -1));
        }
    }

    @Test
    void shouldAnswerWithProviderWhenTheDeviceFailsAndWithUnknownWhenItGivesTooMany() throws InterruptedException {
        EarlierLog.awaitLogged();
        try (LogCapture log = new LogCapture(); ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            PollFault.whileFailing(pair.peer().context(),
                () -> assertEquals(RpmaError.PROVIDER, queue.poll(completions.records(), 0, 4)));
            PollFault.whileGivingTooMany(pair.peer().context(),
                () -> assertEquals(RpmaError.UNKNOWN, queue.poll(completions.records(), 0, 4)));
            assertEquals(0, queue.poll(completions.records(), 0, 4), "the queue works again");
            assertTrue(log.messages().size() <= 2);
        }
    }

    @Test
    void shouldNeverGiveReceivesFromTheMainQueueWhereThereIsAReceiveQueue() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10))) {
            final RpmaCompletionQueue receives = pair.server().receiveCompletionQueue().orElseThrow();
            final LocalMemoryRegion memory = pair.memory(64);
            for (int i = 0; i < 4; i++) {
                assertTrue(pair.server().receive(memory, 0, 8, i));
                assertTrue(pair.client().send(memory, 0, 8, CompletionFlag.ALWAYS, i));
            }
            completions.await(pair.client().completionQueue(), 4);
            assertEquals(0, pair.server().completionQueue().poll(completions.records(), 0, 4));
            assertEquals(0, pair.client().receiveCompletionQueue().orElseThrow().poll(completions.records(), 0, 4));
            completions.await(receives, 4);
            assertEquals(WcOpcode.RECV, completions.at(3).opcode());
        }
    }

    @Test
    void shouldGiveReceivesFromTheMainQueueWhereThereIsNoOther() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertTrue(pair.server().receiveCompletionQueue().isEmpty());
            assertTrue(pair.server().receive(null, 0, 0, 5));
            assertTrue(pair.client().send(null, 0, 0, CompletionFlag.ON_ERROR, 1));
            assertEquals(5, completions.awaitOne(pair.server().completionQueue()).workRequestId());
        }
    }

    @Test
    void shouldFlushAllPostedRequestsWhenTheConnectionEnds() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            for (int i = 0; i < WRITES; i++) {
                assertTrue(pair.server().receive(null, 0, 0, i));
            }
            pair.client().disconnect();
            assertEquals(ConnectionEvent.CLOSED, pair.server().nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            // The queue pair of the notified side enters the error state when that side disconnects too.
            pair.server().disconnect();
            assertEquals(ConnectionEvent.CLOSED, pair.client().nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            completions.await(pair.server().completionQueue(), WRITES);
            for (int i = 0; i < WRITES; i++) {
                assertEquals(WcStatus.WR_FLUSH_ERR, completions.at(i).status());
                assertEquals(i, completions.at(i).workRequestId());
            }
        }
    }

    private static void postWrites(final ConnectedPair pair) {
        final LocalMemoryRegion memory = pair.memory(64);
        final RemoteMemoryRegion remote = pair.remote(memory);
        for (int i = 0; i < WRITES; i++) {
            assertTrue(pair.client().write(remote, 32, memory, 0, 8, CompletionFlag.ALWAYS, i));
        }
    }

    /** Waits until the writes are done without touching the client's queue: a later message has arrived. */
    private void awaitIndirectly(final ConnectedPair pair) {
        assertTrue(pair.server().receive(null, 0, 0, 1));
        assertTrue(pair.client().send(null, 0, 0, CompletionFlag.ALWAYS, WRITES));
        completions.awaitOne(pair.server().completionQueue());
    }
}
