package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.HdrHistogram.Histogram;

/**
 * One end of a pair of processes in the C baseline. A listening end answers, a connecting one measures. The calling thread does
 * the work, and no call takes longer than half a minute after the end of its turn, except for {@link #accept()}.
 *
 * <p>Used by one thread. A failing method throws a {@link VerbsException} with errno; EIO if librpma failed: its log has the
 * reason.
 */
public final class CEnd implements AutoCloseable {
    /** Length of a message. */
    public static final int MESSAGE_BYTES = 64;

    /** As in histogram.h. */
    private static final int HISTOGRAM_LENGTH = 27 << 10;

    private long address;

    /** The way that messages take; in the order of {@code enum baseline_medium}. */
    public enum Medium {
        /** Sends over a connection of librpma. */
        DEVICE,
        /** Two cache lines of a file that both processes map. */
        LINES,
        /** TCP, without delay. */
        TCP
    }

    private CEnd(final long address) {
        this.address = address;
    }

    /**
     * Listens.
     *
     * @param medium the way of the messages
     * @param place  an address of this machine; for {@link Medium#LINES} the path of a file, which is created if needed
     * @param port   the port, for {@link Medium#DEVICE} only
     * @param yields whether the thread yields its CPU while it waits
     * @return an end to be accepted
     */
    public static CEnd listen(final Medium medium, final String place, final int port, final boolean yields) {
        try (Arena arena = Arena.ofConfined()) {
            return of("baseline_end_listen", medium, place, BaselineFunctions.endListen(
                medium.ordinal(), arena.allocateFrom(place).address(), port, yields ? 1 : 0));
        }
    }

    /**
     * Connects to a listening end.
     *
     * @param medium the way of the messages
     * @param place  the place of the listening end
     * @param port   the port of the listening end
     * @param yields whether the thread yields its CPU while it waits
     * @return a connected end
     */
    public static CEnd connect(final Medium medium, final String place, final int port, final boolean yields) {
        try (Arena arena = Arena.ofConfined()) {
            return of("baseline_end_connect", medium, place, BaselineFunctions.endConnect(
                medium.ordinal(), arena.allocateFrom(place).address(), port, yields ? 1 : 0));
        }
    }

    private static CEnd of(final String function, final Medium medium, final String place, final long address) {
        if (address == 0) {
            throw new VerbsException(function + "(" + medium + ", " + place + ")", CallState.current().errno());
        }
        return new CEnd(address);
    }

    /**
     * The port of a listening end.
     *
     * @return chosen by the kernel for {@link Medium#TCP}
     */
    public int port() {
        return BaselineFunctions.endPort(address);
    }

    /** Waits until the other end has connected. */
    public void accept() {
        require(BaselineFunctions.endAccept(address) == 0, "baseline_end_accept");
    }

    /**
     * Sends messages, each after the answer to the previous one; the last one ends the turn of the other end.
     *
     * @param fromNs  begin of the recording time
     * @param untilNs end of the recording time and of the turn
     * @return half of each recorded round trip, in nanoseconds
     */
    public Histogram ping(final long fromNs, final long untilNs) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment counts = arena.allocate(JAVA_LONG, HISTOGRAM_LENGTH);
            require(BaselineFunctions.endPing(address, fromNs, untilNs, counts.address()) == 0, "baseline_end_ping");
            return CBaseline.histogram(counts, HISTOGRAM_LENGTH);
        }
    }

    /**
     * Answers until the last message of a turn.
     *
     * @param untilNs expected end of the turn
     */
    public void answer(final long untilNs) {
        require(BaselineFunctions.endAnswer(address, untilNs) == 0, "baseline_end_answer");
    }

    /**
     * Writes to the memory of the other end, and sends the last message of the turn.
     *
     * @param sizeBytes length of a write
     * @param depth     writes in flight
     * @param fromNs    begin of the recording time
     * @param untilNs   end of the recording time and of the turn
     * @return nanoseconds for each write; NaN if the time was too short
     */
    public double writes(final int sizeBytes, final int depth, final long fromNs, final long untilNs) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment transfers = arena.allocate(JAVA_LONG, 2);
            require(BaselineFunctions.endWrites(address, sizeBytes, depth, fromNs, untilNs, transfers.address()) == 0,
                "baseline_end_writes");
            return nsEach(transfers);
        }
    }

    /**
     * Copies within the memory of this process.
     *
     * @param sizeBytes length of a copy
     * @param slots     number of sources, and of destinations, that are used in turn
     * @param fromNs    begin of the recording time
     * @param untilNs   end of the recording time
     * @return nanoseconds for each copy; NaN if the time was too short
     */
    public static double copies(final int sizeBytes, final int slots, final long fromNs, final long untilNs) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment transfers = arena.allocate(JAVA_LONG, 2);
            require(BaselineFunctions.copies(sizeBytes, slots, fromNs, untilNs, transfers.address()) == 0,
                "baseline_copies");
            return nsEach(transfers);
        }
    }

    /** Of a {@code struct baseline_transfers}. */
    private static double nsEach(final MemorySegment transfers) {
        final long count = transfers.getAtIndex(JAVA_LONG, 0);
        return count == 0 ? Double.NaN : transfers.getAtIndex(JAVA_LONG, 1) / (double) count;
    }

    private static void require(final boolean success, final String function) {
        if (!success) {
            throw new VerbsException(function, CallState.current().errno());
        }
    }

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.endClose(last);
        }
    }
}
