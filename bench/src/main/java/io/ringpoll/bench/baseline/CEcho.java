package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.internal.ffm.CallState;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * An echo of the C baseline: connections of librpma with both ends in this process, and one thread at each end, which polls and
 * answers. The threads sleep between turns.
 *
 * <p>Used by one thread.
 */
public final class CEcho implements AutoCloseable {
    /** As in histogram.h. */
    private static final int HISTOGRAM_LENGTH = 27 << 10;
    private static final int TIMED_OUT = 110;

    private long address;

    /**
     * The size of an echo.
     *
     * @param connections number of connections
     * @param window      buffers in each direction of a connection
     * @param inFlight    messages in flight on a connection, less than the window
     * @param sizeBytes   length of a message, 1 to 256
     * @param yields      whether idle threads yield their CPU
     * @param clientCpu   CPU of the client's thread, or {@link BaselineOptions#ANY_CPU}
     * @param serverCpu   CPU of the server's thread, or {@link BaselineOptions#ANY_CPU}
     */
    public record Options(
        int connections, int window, int inFlight, int sizeBytes, boolean yields, int clientCpu, int serverCpu) {
    }

    private CEcho(final long address) {
        this.address = address;
    }

    /**
     * Connects and starts the threads.
     *
     * @param address an address of this machine
     * @param port    port of the temporary listener
     * @param options the size
     * @return the echo, at rest
     * @throws VerbsException if librpma failed; its log has the reason
     */
    public static CEcho open(final String address, final String port, final Options options) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment encoded = arena.allocateFrom(JAVA_INT, options.connections, options.window, options.inFlight,
                options.sizeBytes, options.yields ? 1 : 0, options.clientCpu, options.serverCpu);
            final long echo = BaselineFunctions.echoOpen(
                arena.allocateFrom(address).address(), arena.allocateFrom(port).address(), encoded.address());
            if (echo == 0) {
                throw new VerbsException("baseline_echo_open(" + address + ", " + port + ")", CallState.current().errno());
            }
            return new CEcho(echo);
        }
    }

    /**
     * Starts a turn, after the end of the last one.
     *
     * @param pingPong true to record round trips, with one message in flight at a time, on one connection after the other
     * @param fromNs   begin of the recording time
     * @param untilNs  end of the recording time
     */
    public void start(final boolean pingPong, final long fromNs, final long untilNs) {
        BaselineFunctions.echoStart(address, pingPong ? 1 : 0, fromNs, untilNs);
    }

    /**
     * Number of answers in all turns.
     *
     * @return a snapshot
     */
    public long answers() {
        return BaselineFunctions.echoAnswers(address);
    }

    /**
     * Ends a turn.
     *
     * @throws TimeoutException if answers are missing after five seconds
     * @throws VerbsException   if an operation has failed
     */
    public void stop() throws TimeoutException {
        if (BaselineFunctions.echoStop(address) != 0) {
            final int errno = CallState.current().errno();
            if (errno == TIMED_OUT) {
                throw new TimeoutException("answers are missing");
            }
            throw new VerbsException("baseline_echo_stop", errno);
        }
    }

    /**
     * The round trips of the last turn.
     *
     * @return in nanoseconds
     */
    @SuppressWarnings("restricted")
    public Histogram roundTripNs() {
        final MemorySegment counts =
            BaselineFunctions.echoHistogram(address).reinterpret(HISTOGRAM_LENGTH * JAVA_LONG.byteSize());
        return CBaseline.histogram(counts, HISTOGRAM_LENGTH);
    }

    @Override
    public void close() {
        final long last = address;
        address = 0;
        if (last != 0) {
            BaselineFunctions.echoClose(last);
        }
    }
}
