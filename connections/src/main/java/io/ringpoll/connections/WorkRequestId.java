package io.ringpoll.connections;

/**
 * The ids of work requests.
 * <pre>
 *   63        62        61          60               32 31  30            0
 *   | goodbye | receive |     0     | messages so far | 0 | sends so far |    of a send
 *   |    0    |    0    | operation | messages so far | 0 | sends so far |    of a one-sided operation
 *   |    0    |    1    |     0     |        0        |      buffer      |    of a receive
 * </pre>
 * The completion of a send completes all earlier ones, as does that of a one-sided operation, which is not counted. Messages are
 * sends, too. Both counts wrap; without the upper three bits the id is the sender's state, so an id costs an addition. The
 * cleared bits above the counts keep a carry from the next field.
 */
final class WorkRequestId {
    private static final int MESSAGES_SHIFT = 32;
    private static final long RECEIVE = 1L << 62;
    private static final long GOODBYE = 1L << 63;
    private static final long OPERATION = 1L << 61;
    private static final long COUNTS = OPERATION - 1 & ~(1L << 31);
    private static final long SEND = 1;
    private static final long MESSAGE = SEND | 1L << MESSAGES_SHIFT;

    private WorkRequestId() {
    }

    static long receive(final int buffer) {
        return RECEIVE | buffer;
    }

    /** The counts after one more message. */
    static long afterMessage(final long counts) {
        return counts + MESSAGE & COUNTS;
    }

    /** The counts after one more send that is no message. */
    static long afterSend(final long counts) {
        return counts + SEND & COUNTS;
    }

    /** The id of a goodbye. */
    static long goodbye(final long counts) {
        return GOODBYE | counts;
    }

    /** The id of a one-sided operation after the counted sends. */
    static long operation(final long counts) {
        return OPERATION | counts;
    }

    /** The counts of a send's or an operation's id. */
    static long counts(final long id) {
        return id & COUNTS;
    }

    static boolean isReceive(final long id) {
        return (id & RECEIVE) != 0;
    }

    static boolean isGoodbye(final long id) {
        return id < 0;
    }

    static boolean isOperation(final long id) {
        return (id & OPERATION) != 0;
    }

    static int buffer(final long id) {
        return (int) id;
    }

    /** Whether the number of sends so far is a multiple of a power of two. */
    static boolean isMultipleOf(final int powerOfTwo, final long counts) {
        return (counts & powerOfTwo - 1) == 0;
    }

    /** Number of messages between two counts. */
    static int messages(final long from, final long to) {
        return (int) (between(from, to) >>> MESSAGES_SHIFT);
    }

    /** Number of sends that are no messages between two counts. */
    static int otherSends(final long from, final long to) {
        return (int) between(from, to) - messages(from, to);
    }

    private static long between(final long from, final long to) {
        return (to | ~COUNTS) - from & COUNTS;
    }
}
