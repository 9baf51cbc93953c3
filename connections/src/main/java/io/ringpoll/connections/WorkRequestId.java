package io.ringpoll.connections;

/**
 * The ids of work requests.
 * <pre>
 *   63        62        61                    31 30                    0
 *   | goodbye | receive | messages posted so far | sends posted so far |    of a send
 *   |    0    |    1    |            0           |     buffer          |    of a receive
 * </pre>
 * The completion of a send completes all earlier ones. Its counts are the lower 31 bits of the sender's.
 */
final class WorkRequestId {
    private static final int COUNT_BITS = 31;
    private static final int COUNT_MASK = Integer.MAX_VALUE;
    private static final long RECEIVE = 1L << 62;
    private static final long GOODBYE = 1L << 63;

    private WorkRequestId() {
    }

    static long receive(final int buffer) {
        return RECEIVE | buffer;
    }

    static long send(final long messagesPosted, final long sendsPosted) {
        return (messagesPosted & COUNT_MASK) << COUNT_BITS | sendsPosted & COUNT_MASK;
    }

    static long goodbye(final long messagesPosted, final long sendsPosted) {
        return GOODBYE | send(messagesPosted, sendsPosted);
    }

    static boolean isReceive(final long id) {
        return (id & RECEIVE) != 0;
    }

    static boolean isGoodbye(final long id) {
        return id < 0;
    }

    static int buffer(final long id) {
        return (int) id;
    }

    /** Number of messages completed by a send, from the number posted. */
    static long messages(final long id, final long posted) {
        return posted - (posted - (id >>> COUNT_BITS) & COUNT_MASK);
    }

    /** Number of sends completed by a send, from the number posted. */
    static long sends(final long id, final long posted) {
        return posted - (posted - id & COUNT_MASK);
    }
}
