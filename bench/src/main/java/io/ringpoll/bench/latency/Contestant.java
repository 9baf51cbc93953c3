package io.ringpoll.bench.latency;

import java.util.concurrent.TimeoutException;

/** A participant of a latency comparison, measured in turns. Used by one thread. */
interface Contestant extends AutoCloseable {
    /** Its label in results. */
    String label();

    /**
     * Runs a turn.
     *
     * @param turn round and times of the turn
     * @return the result of the turn
     * @throws TimeoutException if it does not end in time
     */
    LatencyWindow run(Turn turn) throws TimeoutException;

    /** Whether turns before the measurement make it faster, as they do where code is compiled. */
    default boolean warmsUp() {
        return true;
    }

    /** Releases the resources that it keeps between turns. */
    @Override
    void close();
}
