package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.verbs.VerbsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;

/**
 * C's own connection of librpma, with both ends in this process. One measurement at a time uses it.
 *
 * <p>Used by one thread.
 */
public final class CLink implements AutoCloseable {
    private long address;

    private CLink(final long address) {
        this.address = address;
    }

    /**
     * Connects.
     *
     * @param address of this machine
     * @param port    to listen on for a moment
     * @return to be closed
     * @throws VerbsException if librpma failed; its log says how
     */
    public static CLink open(final String address, final String port) {
        try (Arena arena = Arena.ofConfined()) {
            final long link =
                BaselineFunctions.linkOpen(arena.allocateFrom(address).address(), arena.allocateFrom(port).address());
            if (link == 0) {
                throw new VerbsException("baseline_link_open(" + address + ", " + port + ")", CallState.current().errno());
            }
            return new CLink(link);
        }
    }

    /**
     * Posts an operation after the other, sends and writes back and forth: half of each round trip is recorded; of reads, which
     * the other end has no part in, the whole.
     *
     * @param options how the threads run; at most one handler
     * @param traffic the operation
     * @return to be stopped after {@link #rest()}
     */
    public CBaseline startPingPong(final BaselineOptions options, final Traffic traffic) {
        try (Arena arena = Arena.ofConfined()) {
            return CBaseline.of("baseline_ping_pong_start", BaselineFunctions.pingPongStart(
                address, CBaseline.encode(options, 0, arena), encode(traffic, arena)));
        }
    }

    /**
     * Posts operations at their due times; the time from then to the handler is recorded, of a send to its receive's handler.
     *
     * @param options how the threads run; of sends at most one handler
     * @param traffic the operations
     * @return to be stopped after {@link #rest()}
     */
    public CBaseline startPaced(final BaselineOptions options, final Traffic traffic) {
        try (Arena arena = Arena.ofConfined()) {
            return CBaseline.of("baseline_paced_start", BaselineFunctions.pacedStart(
                address, CBaseline.encode(options, 0, arena), encode(traffic, arena)));
        }
    }

    /**
     * Posts an operation and polls until it has completed, again and again from the calling thread.
     *
     * @param operation write or read
     * @param sizeBytes of each
     * @param count     how many
     * @return nanoseconds that it took
     * @throws VerbsException if one failed
     */
    public long posts(final Traffic.Operation operation, final int sizeBytes, final long count) {
        final long tookNs = BaselineFunctions.posts(address, operation.ordinal(), sizeBytes, count);
        if (tookNs == 0) {
            throw new VerbsException("baseline_posts", CallState.current().errno());
        }
        return tookNs;
    }

    /**
     * Whether ping-pong has recorded as many round trips as it was to, or an operation has failed.
     *
     * @return a moment's answer
     */
    public boolean isDone() {
        return BaselineFunctions.linkIsDone(address) != 0;
    }

    /**
     * Starts nothing more and waits until all that was started has completed.
     *
     * @throws VerbsException if that takes longer than five seconds
     */
    public void rest() {
        if (BaselineFunctions.linkRest(address) != 0) {
            throw new VerbsException("baseline_link_rest", CallState.current().errno());
        }
    }

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.linkClose(last);
        }
    }

    private static long encode(final Traffic traffic, final Arena arena) {
        final long[] dueNs = traffic.schedule().dueNs();
        final MemorySegment encoded = arena.allocate(BaselineFunctions.TRAFFIC);
        encoded.set(JAVA_LONG, offset("start_ns"), traffic.startNs());
        encoded.set(JAVA_LONG, offset("period_ns"), traffic.schedule().periodNs());
        encoded.set(ADDRESS, offset("schedule_ns"),
            dueNs.length == 0 ? MemorySegment.NULL : arena.allocateFrom(JAVA_LONG, dueNs));
        encoded.set(JAVA_LONG, offset("round_trips"), traffic.iterations());
        encoded.set(JAVA_INT, offset("schedule_length"), dueNs.length);
        encoded.set(JAVA_INT, offset("size"), traffic.sizeBytes());
        encoded.set(JAVA_INT, offset("operation"), traffic.operation().ordinal());
        encoded.set(JAVA_INT, offset("poster_cpu"), traffic.posterCpu());
        return encoded.address();
    }

    private static long offset(final String field) {
        return BaselineFunctions.TRAFFIC.byteOffset(PathElement.groupElement(field));
    }
}
