package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.verbs.CompletionPaths;
import io.ringpoll.testing.Completions;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.EnumSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class CompletionPathTest {
    private static final int[] OPCODES = {WcOpcode.SEND, WcOpcode.ATOMIC_WRITE, WcOpcode.RECV, WcOpcode.RECV_RDMA_WITH_IMM};

    @Test
    void shouldDecideTheSamePathAsObjectAndAsBit() {
        for (int status = 0; status < WcStatus.COUNT; status++) {
            for (int opcode = 0; opcode <= 2 * WcOpcode.RECV; opcode++) {
                final long word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putInt(status).putInt(opcode)
                    .getLong(0);
                final CompletionPath path = CompletionPath.of(word);
                assertEquals(1 << path.ordinal(), CompletionPaths.bit(word), status + ", " + opcode + ": " + path);
            }
        }
    }

    @Test
    void shouldExtractStatusAndReceiveBitFromTheWord() {
        for (int status = 0; status < WcStatus.COUNT; status++) {
            for (final int opcode : OPCODES) {
                final long word = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder()).putInt(status).putInt(opcode)
                    .getLong(0);
                final int receive = opcode >= WcOpcode.RECV ? 1 : 0;
                assertEquals(status, CompletionPaths.status(word));
                assertEquals(receive, CompletionPaths.receiveBit(word));
                assertEquals(receive, CompletionPaths.receiveBit(opcode));
                assertEquals(status != WcStatus.SUCCESS, CompletionPaths.isError(word));
            }
        }
    }

    @Test
    void shouldNameASetOfPathsByTheirBits() {
        assertEquals(0, CompletionPaths.bits(EnumSet.noneOf(CompletionPath.class)));
        assertEquals(0b101, CompletionPaths.bits(EnumSet.of(CompletionPath.SEND_WRITE, CompletionPath.ERROR)));
        assertEquals(0b111, CompletionPaths.bits(EnumSet.allOf(CompletionPath.class)));
    }

    @Test
    void shouldCountReceivesAndErrorsOfABatch() {
        final Completions completions = new Completions(10);
        // Sends lie before and behind.
        final long first = completions.address() + 4 * IbvWc.SIZE_BYTES;
        assertEquals(0, CompletionPaths.tally(first, 0));
        fill(completions, 4, WcStatus.SUCCESS, WcOpcode.RECV);
        fill(completions, 5, WcStatus.SUCCESS, WcOpcode.SEND);
        fill(completions, 6, WcStatus.SUCCESS, WcOpcode.RECV_RDMA_WITH_IMM);
        fill(completions, 7, WcStatus.SUCCESS, WcOpcode.RDMA_READ);
        assertEquals(0, CompletionPaths.tally(first, 0));
        assertEquals(1, CompletionPaths.tally(first, 2));
        assertEquals(2, CompletionPaths.tally(first, 4));
        // The opcode of a failed completion is invalid.
        fill(completions, 5, WcStatus.WR_FLUSH_ERR, WcOpcode.RECV);
        fill(completions, 7, WcStatus.LOC_LEN_ERR, WcOpcode.SEND);
        assertEquals(2L << Integer.SIZE | 2, CompletionPaths.tally(first, 4));
        assertEquals(1L << Integer.SIZE | 2, CompletionPaths.tally(first, 3));
    }

    private static void fill(final Completions completions, final int index, final int status, final int opcode) {
        completions.memory().putInt(index * IbvWc.SIZE_BYTES + IbvWc.STATUS_OFFSET, status);
        completions.memory().putInt(index * IbvWc.SIZE_BYTES + IbvWc.OPCODE_OFFSET, opcode);
    }
}
