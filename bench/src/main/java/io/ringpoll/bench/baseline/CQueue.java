package io.ringpoll.bench.baseline;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.CallState;

/**
 * Two queues of a device, one of librpma and one of verbs, that C or a bare handle polls, without the checks of the binding.
 *
 * <p>Used by one thread.
 */
public final class CQueue implements AutoCloseable {
    /** The C function that {@link #poll} calls. */
    public enum Call {
        /** The poll function of librpma, on the queue of librpma. */
        RPMA_CQ_GET_WC,
        /** The function pointer of the device, on the queue of verbs. */
        IBV_POLL_CQ,
        /** The function pointers of an extended queue with timestamps, which not every device has. */
        START_POLL
    }

    private final long rpmaCq;
    private final long ibvCq;
    private final long pollFunction;
    private long address;

    private CQueue(final long address, final long rpmaCq, final long ibvCq, final long pollFunction) {
        this.address = address;
        this.rpmaCq = rpmaCq;
        this.ibvCq = ibvCq;
        this.pollFunction = pollFunction;
    }

    /**
     * Creates the queues.
     *
     * @param device for instance a synthetic one
     * @return to be closed
     * @throws VerbsException if librpma or verbs failed
     */
    public static CQueue open(final VerbsContext device) {
        final CallState state = CallState.current();
        final long address = BaselineFunctions.queueOpen(
            VerbsAccess.address(device), state.scratch(), state.scratch() + Long.BYTES, state.scratch() + 2 * Long.BYTES);
        if (address == 0) {
            throw new VerbsException("baseline_queue_open", state.errno());
        }
        return new CQueue(address, state.longAt(0), state.longAt(Long.BYTES), state.longAt(2 * Long.BYTES));
    }

    /**
     * The queue of librpma.
     *
     * @return address of a {@code struct rpma_cq}
     */
    public long rpmaCq() {
        return rpmaCq;
    }

    /**
     * The queue of verbs.
     *
     * @return address of a {@code struct ibv_cq}
     */
    public long ibvCq() {
        return ibvCq;
    }

    /**
     * The function of the device that polls the verbs queue.
     *
     * @return its address
     */
    public long pollFunction() {
        return pollFunction;
    }

    /**
     * The extended queue with timestamps, which not every device has.
     *
     * @return address of a {@code struct ibv_cq_ex}, or 0
     */
    public long extendedCq() {
        return BaselineFunctions.queueExtended(address, CallState.current().scratch());
    }

    /**
     * The function of the extended queue that starts a poll.
     *
     * @return its address, or 0
     */
    public long startPollFunction() {
        final CallState state = CallState.current();
        BaselineFunctions.queueExtended(address, state.scratch());
        return state.longAt(0);
    }

    /**
     * Polls repeatedly, in C, from the calling thread.
     *
     * @param call  the C function
     * @param batch maximum completions of each call, 1 to 1,024
     * @param calls number of calls
     * @return the elapsed nanoseconds, by the clock of {@link System#nanoTime()}
     */
    public long poll(final Call call, final int batch, final long calls) {
        final CallState state = CallState.current();
        final long tookNs = BaselineFunctions.calls(address, call.ordinal(), batch, calls, state.scratch());
        if (tookNs == 0) {
            throw new VerbsException("baseline_calls", state.errno());
        }
        return tookNs;
    }

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.queueClose(last);
        }
    }
}
