package io.ringpoll.poller;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.IbvWc;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletions;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A completion queue that yields a number of completions as fast as it is polled, without allocation. Work request ids count up
 * from 0, and the paths alternate.
 */
public final class SyntheticQueue implements CompletionQueue {
    private final String name;
    private final long count;
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private long next;

    /**
     * Creates a queue.
     *
     * @param name  for reports
     * @param count total number of completions
     */
    public SyntheticQueue(final String name, final long count) {
        this.name = name;
        this.count = count;
    }

    /**
     * The path of a completion of such a queue.
     *
     * @param workRequestId of the completion
     * @return send/write, receive and error in turn
     */
    public static CompletionPath path(final long workRequestId) {
        return switch ((int) (workRequestId % 3)) {
            case 0 -> CompletionPath.SEND_WRITE;
            case 1 -> CompletionPath.RECEIVE;
            default -> CompletionPath.ERROR;
        };
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        final int polled = (int) Math.min(maxEntries, count - next);
        if (polled > 0) {
            view.wrap(records.address(first, maxEntries), polled * IbvWc.SIZE_BYTES);
            for (int i = 0; i < polled; i++) {
                write(i * IbvWc.SIZE_BYTES, next++);
            }
        }
        return polled;
    }

    @Override
    public String name() {
        return name;
    }

    private void write(final int offset, final long id) {
        view.putLong(offset + IbvWc.WR_ID_OFFSET, id);
        final int path = (int) (id % 3);
        view.putInt(offset + IbvWc.STATUS_OFFSET, path == 2 ? WcStatus.WR_FLUSH_ERR : WcStatus.SUCCESS);
        view.putInt(offset + IbvWc.OPCODE_OFFSET, path == 1 ? WcOpcode.RECV : WcOpcode.RDMA_WRITE);
        view.putLong(offset + IbvWc.VENDOR_ERR_OFFSET, 0);
        view.putLong(offset + IbvWc.IMM_DATA_OFFSET, id);
        view.putLong(offset + IbvWc.SRC_QP_OFFSET, 0);
        view.putLong(offset + IbvWc.PKEY_INDEX_OFFSET, 0);
    }
}
