package io.ringpoll.poller;

import static io.ringpoll.poller.CounterType.Kind.COUNT;
import static io.ringpoll.poller.CounterType.Kind.GAUGE;
import static io.ringpoll.poller.CounterType.Kind.MAX_NS;
import static io.ringpoll.poller.CounterType.Kind.MAX_VALUE;
import static io.ringpoll.poller.CounterType.Kind.NANOSECONDS;
import static io.ringpoll.poller.CounterType.Kind.POSITION;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;

/**
 * All that ringpoll counts: a stable type id, a label and a kind for each counter.
 *
 * <p>A counter lives in an Agrona {@link CountersManager}, so that any thread, or another process through a mapped file, may
 * read it; exactly one thread writes it. Ids are never given to something else. The key of a counter says whose it is:
 * <pre>
 *   0  int    parameter: a status, the lower bound of a batch size; 0 where the type has none
 *   4  int    length of the owner's name in bytes
 *   8  ASCII  name of the poller, handler or queue that the counter belongs to
 * </pre>
 */
public enum CounterType {
    /** Polls of a completion queue. */
    POLLS(100, COUNT, "polls"),
    /** Polls that found the queue empty. */
    EMPTY_POLLS(101, COUNT, "polls that found the queue empty"),
    /** Slots published: completions, and faults of queues. */
    PUBLISHED(102, POSITION, "slots published"),
    /** Completions polled for the send/write path. */
    SEND_WRITES(103, COUNT, "completions, send/write"),
    /** Completions polled for the receive path. */
    RECEIVES(104, COUNT, "completions, receive"),
    /** Completions polled for the error path. */
    ERRORS(105, COUNT, "completions, error"),
    /** Completions polled with one status other than success; the parameter is the status. */
    ERRORS_BY_STATUS(106, COUNT, "errors"),
    /** Batches of a size from the parameter to just below its double. */
    BATCHES_BY_SIZE(107, COUNT, "batches"),
    /** The largest batch. */
    BATCH_MAX(108, MAX_VALUE, "largest batch"),
    /** Queues in the round. */
    QUEUES(110, GAUGE, "queues polled"),
    /** Queues that failed and left the round. */
    QUEUE_FAULTS(111, COUNT, "queues that failed"),
    /** Times that the ring became full. */
    RING_FULL_STALLS(120, COUNT, "ring-full stalls"),
    /** Duty cycles that found the ring full. */
    RING_FULL_CYCLES(121, COUNT, "duty cycles that found the ring full"),
    /** Time for which the ring was full. */
    RING_FULL_NS(122, NANOSECONDS, "time with the ring full"),
    /** The longest duty cycle. */
    DUTY_CYCLE_MAX(130, MAX_NS, "longest duty cycle"),
    /** Duty cycles that took longer than the threshold. */
    DUTY_CYCLES_OVER(131, COUNT, "duty cycles over the threshold"),
    /** Times that a queue was asked to notify of its next completion. */
    ARMS(140, COUNT, "notifications armed"),
    /** Times that the poller slept. */
    SLEEPS(141, COUNT, "sleeps"),
    /** Sleeps that ended because of their bound. */
    SLEEP_TIMEOUTS(142, COUNT, "sleeps that ended by their bound"),
    /** Completion events taken. */
    EVENTS(143, COUNT, "completion events"),
    /** Sleeps that ended by an event after which no queue had a completion. */
    SPURIOUS_WAKEUPS(144, COUNT, "wake-ups without a completion"),

    /** Slots that a handler has passed. */
    HANDLER_POSITION(200, POSITION, "slots passed"),
    /** Completions that a handler took. */
    HANDLED(201, COUNT, "completions handled"),
    /** Exceptions that a handler threw. */
    HANDLER_EXCEPTIONS(202, COUNT, "exceptions"),
    /** The most slots that lay published before a handler when it began a batch. */
    HANDLER_LAG_MAX(203, MAX_VALUE, "most slots behind"),
    /** Times that the ring became full with this handler as the slowest. */
    HELD_BACK_STALLS(204, COUNT, "ring-full stalls it caused"),
    /** Time for which the ring was full with this handler as the slowest. */
    HELD_BACK_NS(205, NANOSECONDS, "time it held the poller back"),
    /** Whether a handler's thread runs: 0 not yet, 1 it does, 2 it ended as asked, -1 it died. */
    HANDLER_STATE(206, GAUGE, "state"),

    /** Slots of the ring. */
    RING_SIZE(300, GAUGE, "ring size"),

    /** Completions that the polled queues with a budget have room for. */
    BUDGET_DEPTH(400, GAUGE, "budget"),
    /** Work requests counted against the budgets of the polled queues. */
    BUDGET_IN_FLIGHT(401, GAUGE, "budget in flight"),
    /** Posts that the budgets of the polled queues refused. */
    BUDGET_REFUSED(402, COUNT, "posts refused by the budget");

    /** What a counter's value means, and how it is shown. */
    public enum Kind {
        /** Grows by one with each occurrence; its rate says something. */
        COUNT,
        /** Grows by nanoseconds. */
        NANOSECONDS,
        /** Grows along the ring; two of them give an occupancy or a lag. */
        POSITION,
        /** A present value. */
        GAUGE,
        /** A largest value so far. */
        MAX_VALUE,
        /** A longest time so far, in nanoseconds. */
        MAX_NS
    }

    private static final int PARAMETER_OFFSET = 0;
    private static final int NAME_OFFSET = 4;
    private static final int MAX_NAME_LENGTH = CountersReader.MAX_KEY_LENGTH - NAME_OFFSET - Integer.BYTES;
    private static final CounterType[] BY_ID = new CounterType[512];

    static {
        for (final CounterType type : values()) {
            BY_ID[type.id] = type;
        }
    }

    private final int id;
    private final Kind kind;
    private final String label;

    CounterType(final int id, final Kind kind, final String label) {
        this.id = id;
        this.kind = kind;
        this.label = label;
    }

    /**
     * The type id in the counters' metadata.
     *
     * @return stable across releases
     */
    public int id() {
        return id;
    }

    /**
     * What the value means.
     *
     * @return count, gauge and so on
     */
    public Kind kind() {
        return kind;
    }

    /**
     * What is counted, for people.
     *
     * @return without the owner's name
     */
    public String label() {
        return label;
    }

    /**
     * The type with an id.
     *
     * @param id as found in counters' metadata
     * @return null if this release knows no such type
     */
    public static CounterType ofId(final int id) {
        return id >= 0 && id < BY_ID.length ? BY_ID[id] : null;
    }

    /**
     * Allocates a counter without a parameter.
     *
     * @param counters where
     * @param owner    name of the poller, handler or queue
     * @return a counter at 0
     */
    public AtomicCounter allocate(final CountersManager counters, final String owner) {
        return allocate(counters, owner, 0, label);
    }

    /**
     * Allocates a counter with a parameter.
     *
     * @param counters  where
     * @param owner     name of the poller, handler or queue
     * @param parameter what tells it from others of its type and owner
     * @param text      takes the place of the label
     * @return a counter at 0
     */
    public AtomicCounter allocate(
        final CountersManager counters, final String owner, final int parameter, final String text) {
        return counters.newCounter(owner + ": " + text, id, key -> writeKey(key, parameter, owner));
    }

    /**
     * The parameter in a counter's key.
     *
     * @param key of the counter
     * @return 0 where the type has none
     */
    public static int parameter(final DirectBuffer key) {
        return key.getInt(PARAMETER_OFFSET);
    }

    /**
     * The owner's name in a counter's key.
     *
     * @param key of the counter
     * @return empty if the key holds none
     */
    public static String owner(final DirectBuffer key) {
        final int length = key.getInt(NAME_OFFSET);
        return length < 0 || length > MAX_NAME_LENGTH ? "" : key.getStringAscii(NAME_OFFSET);
    }

    private static void writeKey(final MutableDirectBuffer key, final int parameter, final String owner) {
        key.putInt(PARAMETER_OFFSET, parameter);
        key.putStringAscii(NAME_OFFSET, owner.substring(0, Math.min(owner.length(), MAX_NAME_LENGTH)));
    }
}
