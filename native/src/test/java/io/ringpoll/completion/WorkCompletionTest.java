package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.ToIntFunction;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The flyweight over a work completion: its fields, and that invalid ones are not read. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WorkCompletionTest {
    private final Completions completions = new Completions(2);
    private final UnsafeBuffer memory = completions.memory();
    private final WorkCompletion completion = completions.at(0);

    @BeforeEach
    void fill() {
        memory.putLong(IbvWc.WR_ID_OFFSET, 0x8877_6655_4433_2211L);
        memory.putInt(IbvWc.STATUS_OFFSET, WcStatus.SUCCESS);
        memory.putInt(IbvWc.OPCODE_OFFSET, WcOpcode.RECV);
        memory.putInt(IbvWc.VENDOR_ERR_OFFSET, 0x301);
        memory.putInt(IbvWc.BYTE_LEN_OFFSET, 4096);
        memory.putInt(IbvWc.IMM_DATA_OFFSET, 0xCAFE_0102, ByteOrder.BIG_ENDIAN);
        memory.putInt(IbvWc.QP_NUM_OFFSET, 17);
        memory.putInt(IbvWc.SRC_QP_OFFSET, 18);
        memory.putInt(IbvWc.WC_FLAGS_OFFSET, WorkCompletion.FLAG_WITH_IMMEDIATE);
        memory.putShort(IbvWc.PKEY_INDEX_OFFSET, (short) 0xFFFE);
        memory.putShort(IbvWc.SLID_OFFSET, (short) 0xFFFD);
        memory.putByte(IbvWc.SL_OFFSET, (byte) 0xFC);
        memory.putByte(IbvWc.DLID_PATH_BITS_OFFSET, (byte) 0xFB);
    }

    @Test
    void shouldReadTheFieldsOfASuccess() {
        assertEquals(0x8877_6655_4433_2211L, completion.workRequestId());
        assertTrue(completion.isSuccess());
        assertEquals(WcOpcode.RECV, completion.opcode());
        assertEquals(0x301, completion.vendorError());
        assertEquals(4096, completion.lengthBytes());
        assertTrue(completion.hasImmediate());
        assertEquals(0xCAFE_0102, completion.immediate());
        assertEquals(17, completion.queuePairNumber());
        assertEquals(18, completion.sourceQueuePairNumber());
        assertEquals(WorkCompletion.FLAG_WITH_IMMEDIATE, completion.flags());
        assertEquals(0xFFFE, completion.partitionKeyIndex());
        assertEquals(0xFFFD, completion.sourceLocalIdentifier());
        assertEquals(0xFC, completion.serviceLevel());
        assertEquals(0xFB, completion.destinationPathBits());
        assertEquals("WorkCompletion{wr_id=0x8877665544332211, status=IBV_WC_SUCCESS, qp_num=17, opcode=IBV_WC_RECV, " +
            "byte_len=4096, wc_flags=2}", completion.toString());
    }

    @Test
    void shouldReadTheValidFieldsOfAFailureAndRejectTheOthers() {
        memory.putInt(IbvWc.STATUS_OFFSET, WcStatus.WR_FLUSH_ERR);
        assertFalse(completion.isSuccess());
        assertEquals(0x8877_6655_4433_2211L, completion.workRequestId());
        assertEquals(WcStatus.WR_FLUSH_ERR, completion.status());
        assertEquals(17, completion.queuePairNumber());
        assertEquals(0x301, completion.vendorError());
        assertEquals(CompletionPath.ERROR, completion.path());
        final List<ToIntFunction<WorkCompletion>> invalid = List.of(WorkCompletion::opcode, WorkCompletion::lengthBytes,
            WorkCompletion::immediate, WorkCompletion::flags, WorkCompletion::sourceQueuePairNumber,
            WorkCompletion::partitionKeyIndex, WorkCompletion::sourceLocalIdentifier, WorkCompletion::serviceLevel,
            WorkCompletion::destinationPathBits, WorkCompletion::invalidatedRemoteKey);
        invalid.forEach(field -> assertThrows(IllegalStateException.class, () -> field.applyAsInt(completion)));
        assertThrows(IllegalStateException.class, completion::hasImmediate);
        assertEquals("opcode is not valid: only wr_id, status, qp_num and vendor_err are valid on IBV_WC_WR_FLUSH_ERR",
            assertThrows(IllegalStateException.class, completion::opcode).getMessage());
        assertEquals("WorkCompletion{wr_id=0x8877665544332211, status=IBV_WC_WR_FLUSH_ERR, qp_num=17, vendor_err=769}",
            completion.toString());
    }

    @Test
    void shouldRejectMissingImmediateDataAndKeys() {
        memory.putInt(IbvWc.WC_FLAGS_OFFSET, 0);
        assertFalse(completion.hasImmediate());
        assertThrows(IllegalStateException.class, completion::immediate);
        assertThrows(IllegalStateException.class, completion::invalidatedRemoteKey);
        memory.putInt(IbvWc.WC_FLAGS_OFFSET, WorkCompletion.FLAG_WITH_INVALIDATE);
        memory.putInt(IbvWc.INVALIDATED_RKEY_OFFSET, 99);
        assertEquals(99, completion.invalidatedRemoteKey());
    }

    @ParameterizedTest
    @CsvSource({"0, 0, SEND_WRITE", "0, 1, SEND_WRITE", "0, 2, SEND_WRITE", "0, 4, SEND_WRITE", "0, 8, SEND_WRITE",
        "0, 9, SEND_WRITE", "0, 128, RECEIVE", "0, 129, RECEIVE", "5, 0, ERROR", "5, 128, ERROR", "10, -286331154, ERROR",
        "1, 129, ERROR"})
    void shouldDecideThePathOnTheStatusFirst(final int status, final int opcode, final CompletionPath path) {
        memory.putInt(IbvWc.STATUS_OFFSET, status);
        memory.putInt(IbvWc.OPCODE_OFFSET, opcode);
        assertEquals(path, completion.path());
    }

    @Test
    void shouldReadTheSameFieldsFromARecordInAnArray() {
        final WorkCompletion other = completions.records().show(0, new WorkCompletion());
        assertEquals(completion.toString(), other.toString());
        assertEquals(0xCAFE_0102, other.immediate());
        assertEquals(0xFFFE, other.partitionKeyIndex());
        assertEquals(0xFC, other.serviceLevel());
        assertEquals(CompletionPath.RECEIVE, other.path());
        memory.putLong(IbvWc.SIZE_BYTES + IbvWc.WR_ID_OFFSET, 2);
        assertEquals(2, other.wrap(memory, IbvWc.SIZE_BYTES).workRequestId());
    }

    @Test
    void shouldAskItsSourceForTheQueue() {
        assertEquals("the completion has no queue index: no poller has published it",
            assertThrows(IllegalStateException.class, completion::queueIndex).getMessage());
        RecordAddress.source(completion, address -> (int) (address - memory.addressOffset()) + 7);
        assertEquals(7, completion.queueIndex());
        assertEquals(7 + IbvWc.SIZE_BYTES, completion.moveTo(IbvWc.SIZE_BYTES).queueIndex());
        completion.unwrap();
        assertThrows(IllegalStateException.class, completion::queueIndex);
    }

    @Test
    void shouldThrowOnceItShowsNothing() {
        final WorkCompletion other = completions.records().show(0, new WorkCompletion());
        other.unwrap();
        assertThrows(IllegalStateException.class, other::workRequestId);
        assertThrows(IllegalStateException.class, new WorkCompletion()::status);
        completion.unwrap();
        assertThrows(IllegalStateException.class, completion::workRequestId);
        assertThrows(IllegalStateException.class, () -> completion.moveTo(0), "the buffer may have been freed");
    }

    @Test
    void shouldRefuseARecordOutsideItsBufferOrOnTheHeap() {
        assertThrows(IndexOutOfBoundsException.class, () -> completion.moveTo(memory.capacity() - IbvWc.SIZE_BYTES + 1));
        assertThrows(IndexOutOfBoundsException.class, () -> completion.wrap(memory, -1));
        final UnsafeBuffer onTheHeap = new UnsafeBuffer(new byte[IbvWc.SIZE_BYTES]);
        assertThrows(IllegalArgumentException.class, () -> completion.wrap(onTheHeap, 0));
    }

    @Test
    void shouldMoveFromRecordToRecord() {
        memory.putLong(IbvWc.SIZE_BYTES + IbvWc.WR_ID_OFFSET, 2);
        assertEquals(2, completion.moveTo(IbvWc.SIZE_BYTES).workRequestId());
    }

    @Test
    void shouldNotCheckWhereTheCheckIsSwitchedOff() {
        assertEquals("128", JavaProcess.create().property(WorkCompletion.VALIDITY_CHECKS_PROPERTY, "false").run(Unchecked.class));
        assertTrue(JavaProcess.create().run(Unchecked.class).contains("opcode is not valid"));
    }

    /** Reads an invalid field; run in a JVM of its own, since the switch is read once. */
    static final class Unchecked {
        private static final PrintStream OUT = System.out;

        private Unchecked() {
        }

        public static void main(final String[] arguments) {
            final Completions completions = new Completions(1);
            completions.memory().putInt(IbvWc.STATUS_OFFSET, WcStatus.WR_FLUSH_ERR);
            completions.memory().putInt(IbvWc.OPCODE_OFFSET, WcOpcode.RECV);
            OUT.println(completions.at(0).opcode());
        }
    }
}
