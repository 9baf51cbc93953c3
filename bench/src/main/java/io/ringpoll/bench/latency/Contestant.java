package io.ringpoll.bench.latency;

import java.util.concurrent.TimeoutException;

/**
 * One of those whose latency is measured in turns. Used by one thread.
 */
interface Contestant extends AutoCloseable {
    /** What results call it. */
    String label();

    /**
     * Has its turn.
     *
     * @param turn which, and how long
     * @return what it came to
     * @throws TimeoutException if it does not come to its end
     */
    LatencyWindow run(Turn turn) throws TimeoutException;

    /** Whether turns before the measurement make it faster, as they do where code is compiled. */
    default boolean warmsUp() {
        return true;
    }

    /** Lets go of what it has kept between turns. */
    @Override
    void close();
}
