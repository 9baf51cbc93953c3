package io.ringpoll.bench.baseline;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.verbs.VerbsContext;
import io.ringpoll.verbs.VerbsException;

/**
 * Two queues of a device by their addresses, one of librpma and one of verbs: for calls without the checks of the binding.
 *
 * <p>Used by one thread.
 */
public final class CQueue implements AutoCloseable {
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
            device.address(), state.scratch(), state.scratch() + Long.BYTES, state.scratch() + 2 * Long.BYTES);
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

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.queueClose(last);
        }
    }
}
