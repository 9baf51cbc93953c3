package io.ringpoll.internal.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import java.util.EnumSet;
import java.util.Set;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The filter of each set of paths. */
class PathFilterTest {
    private static final int[] STATUSES =
        {WcStatus.SUCCESS, WcStatus.LOC_LEN_ERR, WcStatus.WR_FLUSH_ERR, -1, Integer.MIN_VALUE};
    private static final int[] OPCODES =
        {WcOpcode.SEND, WcOpcode.RDMA_WRITE, WcOpcode.RDMA_READ, WcOpcode.RECV, WcOpcode.RECV_RDMA_WITH_IMM, 0x7fff_ff7f};

    private final UnsafeBuffer wc = new UnsafeBuffer(BufferUtil.allocateDirectAligned(IbvWc.SIZE_BYTES, Long.BYTES));

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 3, 4, 5, 6, 7})
    void shouldAcceptTheCompletionsOfItsPathsOnly(final int bits) {
        final Set<CompletionPath> paths = EnumSet.noneOf(CompletionPath.class);
        for (final CompletionPath path : CompletionPath.values()) {
            if ((bits & 1 << path.ordinal()) != 0) {
                paths.add(path);
            }
        }
        final PathFilter filter = PathFilter.of(CompletionPaths.bits(paths));
        for (final int status : STATUSES) {
            for (final int opcode : OPCODES) {
                wc.putInt(IbvWc.STATUS_OFFSET, status);
                wc.putInt(IbvWc.OPCODE_OFFSET, opcode);
                final CompletionPath path = status != WcStatus.SUCCESS ? CompletionPath.ERROR :
                    (opcode & WcOpcode.RECV) != 0 ? CompletionPath.RECEIVE : CompletionPath.SEND_WRITE;
                assertEquals(paths.contains(path), filter.accepts(wc.getLong(IbvWc.STATUS_OFFSET)),
                    paths + ": status " + status + ", opcode " + opcode);
            }
        }
    }
}
