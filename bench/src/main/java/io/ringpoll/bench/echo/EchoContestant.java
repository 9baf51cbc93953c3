package io.ringpoll.bench.echo;

import java.util.concurrent.TimeoutException;
import org.HdrHistogram.Histogram;

/**
 * An echo server and its client in this process, with connections that stay open; measured in turns, between which its threads
 * sleep. Used by one thread.
 */
interface EchoContestant extends AutoCloseable {
    /**
     * Starts a turn.
     *
     * @param mode    its traffic
     * @param fromNs  begin of the time in which round trips are recorded
     * @param untilNs its end
     */
    void start(EchoMode mode, long fromNs, long untilNs);

    /** Number of answers so far. */
    long answers();

    /**
     * Ends a turn: waits for all answers.
     *
     * @throws TimeoutException if answers are missing
     */
    void stop() throws TimeoutException;

    /** The round trips that the last turn has recorded. */
    Histogram roundTripNs();

    /** Whether its threads are Java threads with known allocations. */
    default boolean isJava() {
        return true;
    }

    @Override
    void close();
}
