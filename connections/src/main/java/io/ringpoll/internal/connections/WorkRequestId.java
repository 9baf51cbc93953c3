package io.ringpoll.internal.connections;

/**
 * Encodes the ids of a connection's work requests: their kind, and the counts of messages and sends.
 * <pre>
 *   63        62        61          60  52 51  50               32 31          30            0
 *   | goodbye | receive |     0     | tag | 0 | messages so far |     0     | sends so far |    of a send
 *   |    0    |    0    | operation | tag | 0 | messages so far |     0     | sends so far |    of a one-sided operation
 *   |    0    |    0    |     0     | tag | 0 | messages so far | keepalive | sends so far |    of a keepalive
 *   |    0    |    1    |     0     | tag | 0 |        0        |           buffer         |    of a receive
 * </pre>
 * The tag distinguishes connections that have the same queue pair number one after the other: a shared completion queue may still
 * hold completions of an earlier one.
 *
 * <p>The completion of a send completes all earlier ones, as do those of a one-sided operation and a keepalive, which are not
 * counted. Messages are sends, too. Both counts wrap; without the upper three bits and that of a keepalive the id is the sender's
 * state, the tag with it, so an id costs an addition. The cleared bits above the counts keep a carry from the next field.
 */
public final class WorkRequestId {
    /** The first counts of a connection that needs no tag, because no other one has its completion queue. */
    public static final long UNTAGGED = 0;

    private static final int MESSAGES_SHIFT = 32;
    private static final long RECEIVE = 1L << 62;
    private static final long GOODBYE = 1L << 63;
    private static final long OPERATION = 1L << 61;
    private static final long KEEPALIVE = 1L << 31;
    private static final int TAG_SHIFT = 52;
    private static final long TAG = OPERATION - (1L << TAG_SHIFT);
    private static final long CARRY_OF_MESSAGES = 1L << TAG_SHIFT - 1;
    private static final long COUNTS = OPERATION - 1 & ~KEEPALIVE & ~CARRY_OF_MESSAGES;
    private static final long OTHERS = GOODBYE | OPERATION | KEEPALIVE;
    private static final long SEND = 1;
    private static final long MESSAGE = SEND | 1L << MESSAGES_SHIFT;

    private WorkRequestId() {
    }

    /**
     * The counts of a connection that has sent nothing.
     *
     * @param tag of the connection, of which only the lower bits count
     * @return the counts with the tag
     */
    public static long begin(final int tag) {
        return (long) tag << TAG_SHIFT & TAG;
    }

    /**
     * Whether an id is that of a request of a connection.
     *
     * @param id    of any request
     * @param begin of the connection, as {@link #begin} has returned it
     * @return false for a connection with another tag
     */
    public static boolean isOf(final long id, final long begin) {
        return (id & TAG) == begin;
    }

    /**
     * The id of a receive.
     *
     * @param begin  of the connection
     * @param buffer number of its buffer
     * @return the id
     */
    public static long receive(final long begin, final int buffer) {
        return RECEIVE | begin | buffer;
    }

    /**
     * The counts after one more message.
     *
     * @param counts before
     * @return the new counts, which are also the id of this send
     */
    public static long afterMessage(final long counts) {
        return counts + MESSAGE & COUNTS;
    }

    /**
     * The counts after one more send that is no message.
     *
     * @param counts before
     * @return the new counts, which are also the id of this send
     */
    public static long afterSend(final long counts) {
        return counts + SEND & COUNTS;
    }

    /**
     * The id of a goodbye.
     *
     * @param counts with it
     * @return the id
     */
    public static long goodbye(final long counts) {
        return GOODBYE | counts;
    }

    /**
     * The id of a one-sided operation.
     *
     * @param counts of the sends before it
     * @return the id
     */
    public static long operation(final long counts) {
        return OPERATION | counts;
    }

    /**
     * The id of a keepalive.
     *
     * @param counts of the sends before it
     * @return the id
     */
    public static long keepalive(final long counts) {
        return KEEPALIVE | counts;
    }

    /**
     * Whether the id is that of a goodbye, an operation or a keepalive.
     *
     * @param id of any request but a receive
     * @return false for all other sends
     */
    public static boolean isOther(final long id) {
        return (id & OTHERS) != 0;
    }

    /**
     * The counts of a send's or an operation's id.
     *
     * @param id of either
     * @return the counts with the tag
     */
    public static long counts(final long id) {
        return id & COUNTS;
    }

    /**
     * Whether the id is that of a receive.
     *
     * @param id of any request
     * @return false for all others
     */
    public static boolean isReceive(final long id) {
        return (id & RECEIVE) != 0;
    }

    /**
     * Whether the id is that of a goodbye.
     *
     * @param id of any request
     * @return false for all others
     */
    public static boolean isGoodbye(final long id) {
        return id < 0;
    }

    /**
     * Whether the id is that of a one-sided operation.
     *
     * @param id of any request
     * @return false for all others
     */
    public static boolean isOperation(final long id) {
        return (id & OPERATION) != 0;
    }

    /**
     * The number of the buffer of a receive.
     *
     * @param id of a receive
     * @return from 0
     */
    public static int buffer(final long id) {
        return (int) id;
    }

    /**
     * Whether the number of sends so far is a multiple of a power of two.
     *
     * @param powerOfTwo a power of two
     * @param counts of the sends
     * @return true for one send in so many
     */
    public static boolean isMultipleOf(final int powerOfTwo, final long counts) {
        return (counts & powerOfTwo - 1) == 0;
    }

    /**
     * Number of messages between two counts.
     *
     * @param from earlier counts
     * @param to later counts
     * @return 0 or more
     */
    public static int messages(final long from, final long to) {
        return (int) (between(from, to) >>> MESSAGES_SHIFT);
    }

    /**
     * Number of sends that are no messages between two counts.
     *
     * @param from earlier counts
     * @param to later counts
     * @return 0 or more
     */
    public static int otherSends(final long from, final long to) {
        return (int) between(from, to) - messages(from, to);
    }

    private static long between(final long from, final long to) {
        return (to | ~COUNTS) - from & COUNTS;
    }
}
