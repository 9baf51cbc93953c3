package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.PollFault;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteOrder;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The old completion call: its six operations, its fields, its answers. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LegacyCompletionTest {
    private static final int IMMEDIATE = 0x0102_0304;

    private final Completions completions = new Completions();
    private final LegacyCompletion completion = new LegacyCompletion();

    @Test
    void shouldGiveTheFieldsOfTheOldStruct() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion memory = pair.memory(64);
            final RemoteMemoryRegion remote = pair.remote(memory);
            assertEquals(RpmaError.NO_COMPLETION, pair.client().completionQueue().getCompletion(completion));
            assertTrue(pair.client().write(remote, 32, memory, 0, 8, CompletionFlag.ALWAYS, 11));
            assertGets(pair.client(), 11, LegacyOp.WRITE);
            assertTrue(pair.client().read(memory, 0, remote, 32, 8, CompletionFlag.ALWAYS, 12));
            assertGets(pair.client(), 12, LegacyOp.READ);
            assertEquals(8, completion.byteLen());
            assertTrue(pair.client().flush(remote, 0, 8, FlushType.VISIBILITY, CompletionFlag.ALWAYS, 13));
            assertGets(pair.client(), 13, LegacyOp.READ);
            assertTrue(pair.server().receive(memory, 0, 64, 14));
            assertTrue(pair.client().sendWithImmediate(memory, 0, 16, CompletionFlag.ALWAYS, IMMEDIATE, 15));
            assertGets(pair.client(), 15, LegacyOp.SEND);
            assertGets(pair.server(), 14, LegacyOp.RECV);
            assertEquals(16, completion.byteLen());
            assertEquals(WorkCompletion.FLAG_WITH_IMMEDIATE, completion.flags() & WorkCompletion.FLAG_WITH_IMMEDIATE);
            assertEquals(IMMEDIATE, completion.imm());
            assertTrue(pair.server().receive(null, 0, 0, 16));
            assertTrue(pair.client().writeWithImmediate(remote, 32, memory, 0, 8, CompletionFlag.ON_ERROR, ~IMMEDIATE, 17));
            assertGets(pair.server(), 16, LegacyOp.RECV_RDMA_WITH_IMM);
            assertEquals(~IMMEDIATE, completion.imm());
        }
    }

    @Test
    void shouldRetireTheRequestThatHasCompleted() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            assertEquals(1, queue.budget().inFlight());
            assertGets(pair.client(), 1, LegacyOp.WRITE);
            assertEquals(0, queue.budget().inFlight());
        }
    }

    @Test
    void shouldBePolledWithoutABudgetToo() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            assertSame(queue, queue.withoutBudget());
            assertNull(queue.budget());
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1));
            assertGets(pair.client(), 1, LegacyOp.WRITE);
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 2));
            assertEquals(2, completions.awaitOne(queue).workRequestId());
        }
    }

    @Test
    void shouldGiveContextAndStatusOfWhatFailed() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            assertTrue(pair.server().receive(null, 0, 0, 21));
            pair.client().disconnect();
            pair.server().disconnect();
            assertEquals(RpmaError.SUCCESS, awaitOne(pair.server()));
            assertEquals(21, completion.opContext());
            assertEquals(WcStatus.WR_FLUSH_ERR, completion.opStatus());
        }
    }

    @Test
    void shouldAnswerAsTheOldCallWhenTheDeviceFails() throws InterruptedException {
        EarlierLog.awaitLogged();
        try (LogCapture log = new LogCapture(); ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            PollFault.whileFailing(pair.peer().context(),
                () -> assertEquals(RpmaError.PROVIDER, queue.getCompletion(completion)));
            PollFault.whileGivingTooMany(pair.peer().context(),
                () -> assertEquals(RpmaError.UNKNOWN, queue.getCompletion(completion)));
            assertTrue(log.messages().size() <= 2);
        }
    }

    @Test
    void shouldNotSupportAnOpcodeThatItMeetsInAQueue() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            PollFault.whileGivingAnUnknownOpcode(pair.peer().context(), () -> {
                assertEquals(RpmaError.NOSUPP, pair.client().completionQueue().getCompletion(completion));
                assertEquals(99, completion.opContext());
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"0, SEND", "1, WRITE", "2, READ", "128, RECV", "129, RECV_RDMA_WITH_IMM"})
    void shouldMapTheOldOperations(final int opcode, final LegacyOp op) {
        setRecord(WcStatus.SUCCESS, opcode, 0);
        assertEquals(RpmaError.SUCCESS, completion.set(completions.at(0)));
        assertEquals(op, completion.op());
        assertEquals(99, completion.byteLen());
        assertEquals(0, completion.imm());
    }

    @ParameterizedTest
    @CsvSource({"0, SEND_WRITE", "1, SEND_WRITE", "2, SEND_WRITE", "128, RECEIVE", "129, RECEIVE"})
    void shouldTakeThePathOfItsStatusAndOperation(final int opcode, final CompletionPath path) {
        setRecord(WcStatus.SUCCESS, opcode, 0);
        completion.set(completions.at(0));
        assertEquals(path, completion.path());
        setRecord(WcStatus.WR_FLUSH_ERR, opcode, 0);
        assertEquals(RpmaError.SUCCESS, completion.set(completions.at(0)));
        assertEquals(CompletionPath.ERROR, completion.path());
    }

    @ParameterizedTest
    @CsvSource({"3", "4", "5", "6", "7", "8", "9", "77"})
    void shouldNotSupportOtherOpcodes(final int opcode) {
        setRecord(WcStatus.SUCCESS, opcode, 0);
        assertEquals(RpmaError.NOSUPP, completion.set(completions.at(0)));
        assertEquals(0xABCD, completion.opContext());
    }

    @Test
    void shouldReadTheStructThatTheOldCallFills() {
        final UnsafeBuffer struct = new UnsafeBuffer(completion.structAddress(), LegacyCompletion.SIZE_BYTES);
        struct.putLong(LegacyCompletion.OP_CONTEXT_OFFSET, 0xABCDL);
        struct.putInt(LegacyCompletion.BYTE_LEN_OFFSET, 99);
        struct.putInt(LegacyCompletion.OP_STATUS_OFFSET, WcStatus.WR_FLUSH_ERR);
        struct.putInt(LegacyCompletion.FLAGS_OFFSET, WorkCompletion.FLAG_WITH_IMMEDIATE);
        struct.putInt(LegacyCompletion.IMM_OFFSET, IMMEDIATE);
        assertEquals(0xABCD, completion.opContext());
        assertEquals(99, completion.byteLen());
        assertEquals(WcStatus.WR_FLUSH_ERR, completion.opStatus());
        assertEquals(WorkCompletion.FLAG_WITH_IMMEDIATE, completion.flags());
        assertEquals(IMMEDIATE, completion.imm());
    }

    @Test
    void shouldTakeImmediateDataOfReceivesOnly() {
        setRecord(WcStatus.SUCCESS, WcOpcode.SEND, WorkCompletion.FLAG_WITH_IMMEDIATE);
        completion.set(completions.at(0));
        assertEquals(0, completion.imm());
        setRecord(WcStatus.SUCCESS, WcOpcode.RECV, WorkCompletion.FLAG_WITH_IMMEDIATE);
        completion.set(completions.at(0));
        assertEquals(IMMEDIATE, completion.imm());
    }

    private void setRecord(final int status, final int opcode, final int flags) {
        completions.memory().putLong(IbvWc.WR_ID_OFFSET, 0xABCD);
        completions.memory().putInt(IbvWc.STATUS_OFFSET, status);
        completions.memory().putInt(IbvWc.OPCODE_OFFSET, opcode);
        completions.memory().putInt(IbvWc.BYTE_LEN_OFFSET, 99);
        completions.memory().putInt(IbvWc.WC_FLAGS_OFFSET, flags);
        completions.memory().putInt(IbvWc.IMM_DATA_OFFSET, IMMEDIATE, ByteOrder.BIG_ENDIAN);
    }

    private void assertGets(final Connection connection, final long context, final LegacyOp op) {
        assertEquals(RpmaError.SUCCESS, awaitOne(connection));
        assertEquals(WcStatus.SUCCESS, completion.opStatus());
        assertEquals(context, completion.opContext());
        assertEquals(op, completion.op());
    }

    private int awaitOne(final Connection connection) {
        final long startNs = System.nanoTime();
        int result = RpmaError.NO_COMPLETION;
        while (result == RpmaError.NO_COMPLETION && System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(10)) {
            result = connection.completionQueue().getCompletion(completion);
        }
        return result;
    }
}
