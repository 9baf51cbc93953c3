package io.ringpoll.bench.echo;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.HdrHistogram.Histogram;

/**
 * Counts the answers of a Java contestant and records its round trips.
 *
 * <p>Owned by the client's thread during a turn; the measuring thread begins and stops turns, and reads the count.
 */
final class EchoMeter {
    private static final VarHandle ANSWERS;
    private static final long HIGHEST_NS = (1L << 36) - 1;
    private static final int DIGITS = 3;

    static {
        try {
            ANSWERS = MethodHandles.lookup().findVarHandle(EchoMeter.class, "answers", long.class);
        } catch (final ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final Histogram roundTripNs = new Histogram(1, HIGHEST_NS, DIGITS);
    private boolean pingPong;
    private long fromNs;
    private long lengthNs;
    private long sentNs;
    private int inFlight;
    private long answers;
    private volatile boolean stopped;
    private volatile boolean atRest;
    private volatile String fault = "";

    /** Prepares a turn; before the client's thread starts it. */
    void begin(final EchoMode mode, final EchoScale scale, final long recordFromNs, final long recordUntilNs) {
        roundTripNs.reset();
        pingPong = mode == EchoMode.PING_PONG;
        inFlight = pingPong ? 1 : scale.connections() * scale.inFlight();
        fromNs = recordFromNs;
        lengthNs = recordUntilNs - recordFromNs;
        atRest = false;
        stopped = false;
    }

    boolean isPingPong() {
        return pingPong;
    }

    /** Called before each message; client's thread. */
    void onSend() {
        if (pingPong) {
            sentNs = System.nanoTime();
        }
    }

    /** Counts an answer; client's thread. Returns true if the next message is to be sent. */
    boolean onAnswer() {
        if (pingPong) {
            final long nowNs = System.nanoTime();
            if (Long.compareUnsigned(sentNs - fromNs, lengthNs) < 0) {
                roundTripNs.recordValue(Math.min(nowNs - sentNs, HIGHEST_NS));
            }
        }
        ANSWERS.setRelease(this, answers + 1);
        if (!stopped) {
            return true;
        }
        if (--inFlight == 0) {
            atRest = true;
        }
        return false;
    }

    /** Reports an error of either end; any thread. */
    void fail(final String reason) {
        fault = reason;
    }

    /** No more messages; any thread. */
    void stop() {
        stopped = true;
    }

    /** Whether all messages have been answered after {@link #stop()}, or something has failed. */
    boolean isAtRest() {
        return atRest || !fault.isEmpty();
    }

    /** Empty if nothing has failed. */
    String fault() {
        return fault;
    }

    long answers() {
        return (long) ANSWERS.getAcquire(this);
    }

    /** The recorded round trips, at rest. */
    Histogram roundTripNs() {
        return roundTripNs.copy();
    }
}
