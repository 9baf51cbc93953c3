package io.ringpoll.bench.processes;

/**
 * One end of a contestant, in the process of the client or in that of the server. Used by the hot thread of the process. Each
 * method ends within seconds after the expected end of the turn, or throws an exception.
 */
interface End extends AutoCloseable {
    /** Waits until the client has connected; server. Returns after the connection can be used. */
    void accept() throws Exception;

    /**
     * Prepares a turn, in which the other end may start before.
     *
     * @param fromNs  begin of the recording time
     * @param untilNs end of the recording time and of the turn
     */
    default void prepare(final long fromNs, final long untilNs) {
    }

    /**
     * Takes its part in a turn: the client measures, and the server answers until the client's last message.
     *
     * @param fromNs  begin of the recording time
     * @param untilNs end of the recording time and of the turn
     * @return the figures of the client; {@link EndFigures#NONE} at the server
     */
    EndFigures run(long fromNs, long untilNs) throws Exception;

    /** Ends a turn, also one that has failed: its hot threads end here, and not before. */
    default void finish() {
    }

    /** The place where it listens, a word for the other end; server. */
    String place();

    @Override
    void close();
}
