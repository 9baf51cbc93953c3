package io.ringpoll.bench.baseline;

import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.access.VerbsAccess;
import io.ringpoll.internal.ffm.CallState;

/**
 * Completion queues of librpma for baselines that poll more than their own queue.
 *
 * <p>Opened and closed by one thread; polled by one running baseline at a time.
 */
public final class CQueues implements AutoCloseable {
    private final int count;
    private long address;

    private CQueues(final long address, final int count) {
        this.address = address;
        this.count = count;
    }

    /**
     * Creates the queues.
     *
     * @param device for instance a synthetic one
     * @param count  number of queues, 0 or more
     * @return to be closed after the last baseline that polls them
     * @throws VerbsException if librpma failed
     */
    public static CQueues open(final VerbsContext device, final int count) {
        final long address = BaselineFunctions.queuesOpen(VerbsAccess.address(device), count);
        if (address == 0) {
            throw new VerbsException("baseline_queues_open", CallState.current().errno());
        }
        return new CQueues(address, count);
    }

    /**
     * The number of queues.
     *
     * @return as given to {@link #open}
     */
    public int count() {
        return count;
    }

    /** The address of the {@code struct baseline_queues}. */
    long address() {
        return address;
    }

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.queuesClose(last);
        }
    }
}
