package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;

/**
 * A librpma connection of the C baseline, with both ends in this process. Used by one measurement at a time.
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
     * @param address an address of this machine
     * @param port    port of the temporary listener
     * @return the connection, to be closed
     * @throws VerbsException if librpma failed; its log has the reason
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
     * Starts ping-pong: posts one operation after the other, back and forth for sends and writes. Half of each round trip is
     * recorded; for reads, which do not involve the peer, the whole.
     *
     * @param options options of the threads; at most one handler
     * @param traffic the operation
     * @return to be stopped after {@link #rest()}
     */
    public CBaseline startPingPong(final BaselineOptions options, final Traffic traffic) {
        try (Arena arena = Arena.ofConfined()) {
            return CBaseline.of("baseline_ping_pong_start", BaselineFunctions.pingPongStart(
                address, CBaseline.encode(options, 0, arena).address(), encode(traffic, arena)));
        }
    }

    /**
     * Posts operations at their due times and records the time from then to the handler, for a send to the handler of its
     * receive.
     *
     * @param options options of the threads; for sends at most one handler
     * @param traffic the operations
     * @return to be stopped after {@link #rest()}
     */
    public CBaseline startPaced(final BaselineOptions options, final Traffic traffic) {
        try (Arena arena = Arena.ofConfined()) {
            return CBaseline.of("baseline_paced_start", BaselineFunctions.pacedStart(
                address, CBaseline.encode(options, 0, arena).address(), encode(traffic, arena)));
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
        final long tookNs = BaselineFunctions.posts(address, operation.ordinal(), sizeBytes, count);
        if (tookNs == 0) {
            throw new VerbsException("baseline_posts", CallState.current().errno());
        }
        return tookNs;
    }

    /**
     * Whether ping-pong has recorded the requested number of round trips, or an operation has failed.
     *
     * @return the present state
     */
    public boolean isDone() {
        return BaselineFunctions.linkIsDone(address) != 0;
    }

    /**
     * Posts nothing more and waits until all posted operations have completed.
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
