package io.ringpoll.bench.baseline;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/** A connection of the C baseline by librdmacm and libibverbs, with both ends in this process. Used by one thread. */
public final class CVerbsLink implements AutoCloseable {
    private long address;

    private CVerbsLink(final long address) {
        this.address = address;
    }

    /**
     * Connects.
     *
     * @param address an address of this machine
     * @param port    port of the temporary listener
     * @return the connection, to be closed
     * @throws VerbsException if that failed
     */
    public static CVerbsLink open(final String address, final String port) {
        try (Arena arena = Arena.ofConfined()) {
            final long link =
                BaselineFunctions.verbsOpen(arena.allocateFrom(address).address(), arena.allocateFrom(port).address());
            if (link == 0) {
                throw new VerbsException("baseline_verbs_open(" + address + ", " + port + ")", CallState.current().errno());
            }
            return new CVerbsLink(link);
        }
    }

    /**
     * Posts one operation at a time from the calling thread, and polls until it has completed.
     *
     * @param operation write or read
     * @param sizeBytes bytes of each operation
     * @param count     number of operations
     * @return the elapsed nanoseconds
     * @throws VerbsException if one failed
     */
    public long posts(final Traffic.Operation operation, final int sizeBytes, final long count) {
        final long tookNs = BaselineFunctions.verbsPosts(address, operation.ordinal(), sizeBytes, count);
        if (tookNs == 0) {
            throw new VerbsException("baseline_verbs_posts", CallState.current().errno());
        }
        return tookNs;
    }

    /**
     * The calls of {@link #posts} for a caller that makes them itself.
     *
     * @param operation write or read
     * @param sizeBytes bytes of each operation
     * @return valid until the next call of this method, or until the connection is closed
     */
    public BareCalls prepare(final Traffic.Operation operation, final int sizeBytes) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment calls = arena.allocate(BareCalls.LAYOUT);
            BaselineFunctions.verbsPrepare(address, operation.ordinal(), sizeBytes, calls.address());
            return new BareCalls(calls);
        }
    }

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.verbsClose(last);
        }
    }
}
