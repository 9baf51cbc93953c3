package io.ringpoll.bench.echo;

/**
 * The size of an echo: connections, buffers, messages in flight.
 *
 * @param connections number of connections, all polled by one thread at each end
 * @param window      buffers in each direction of a connection
 * @param inFlight    messages in flight on each connection in saturation, half of the window: credits are returned in time
 */
record EchoScale(int connections, int window, int inFlight) {
    /** Length of a message, in bytes. */
    static final int MESSAGE_BYTES = 64;

    /** The name of a figure in results. */
    String resultName(final String figure) {
        return "echo/" + connections + "-connections/" + figure;
    }

    @Override
    public String toString() {
        return connections + " connections";
    }
}
