package io.ringpoll.internal.poller;

import static io.ringpoll.internal.poller.CounterType.Kind.COUNT;
import static io.ringpoll.internal.poller.CounterType.Kind.GAUGE;
import static io.ringpoll.internal.poller.CounterType.Kind.MAX_NS;
import static io.ringpoll.internal.poller.CounterType.Kind.MAX_VALUE;
import static io.ringpoll.internal.poller.CounterType.Kind.NANOSECONDS;
import static io.ringpoll.internal.poller.CounterType.Kind.POSITION;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Set;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.status.AtomicCounter;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;

/**
 * The counters of ringpoll: a stable type id, a stable name, a label and a kind for each.
 *
 * <p>A counter is allocated in an Agrona {@link CountersManager}. Any thread may read it, and any process that maps the file;
 * exactly one thread writes it. Type ids are never reused. The key identifies the owner of a counter:
 * <pre>
 *   0  int    parameter: a status, or the lower bound of a batch size; 0 if the type has none
 *   4  int    length of the owner's name in bytes
 *   8  UTF-8  name of the poller, handler or queue that the counter belongs to
 * </pre>
 */
public enum CounterType {
    /** Polls of a completion queue. */
    POLLS(100, COUNT, "polls", "polls"),
    /** Polls that found the queue empty. */
    EMPTY_POLLS(101, COUNT, "empty_polls", "empty polls"),
    /** Slots published: completions and queue faults. */
    PUBLISHED(102, POSITION, "published_slots", "slots published"),
    /** Completions of the send/write path that its first handler has passed. */
    SEND_WRITES(103, COUNT, "send_write_completions", "completions, send/write"),
    /** Completions of the receive path that its first handler has passed. */
    RECEIVES(104, COUNT, "receive_completions", "completions, receive"),
    /** Completions of the error path that its first handler has passed. */
    ERRORS(105, COUNT, "error_completions", "completions, error"),
    /** Completions with one particular error status; the parameter is the status. */
    ERRORS_BY_STATUS(106, COUNT, "error_status_completions", "completions by error status"),
    /** Batches of a size from the parameter to twice the parameter less one. */
    BATCHES_BY_SIZE(107, COUNT, "batches", "batches by size"),
    /** The largest batch. */
    BATCH_MAX(108, MAX_VALUE, "batch_max_completions", "largest batch"),
    /** Queues in the round. */
    QUEUES(110, GAUGE, "queues", "queues polled"),
    /** Queues that failed and left the round. */
    QUEUE_FAULTS(111, COUNT, "queue_faults", "failed queues"),
    /** Times that the ring became full. */
    RING_FULL_STALLS(120, COUNT, "ring_full_stalls", "ring-full stalls"),
    /** Duty cycles that found the ring full. */
    RING_FULL_CYCLES(121, COUNT, "ring_full_cycles", "duty cycles with the ring full"),
    /** Time for which the ring was full. */
    RING_FULL_NS(122, NANOSECONDS, "ring_full_nanoseconds", "time with the ring full"),
    /** The longest duty cycle. */
    DUTY_CYCLE_MAX(130, MAX_NS, "duty_cycle_max_nanoseconds", "longest duty cycle"),
    /** Duty cycles that took longer than the threshold. */
    DUTY_CYCLES_OVER(131, COUNT, "long_duty_cycles", "duty cycles over the threshold"),
    /** Notification requests ({@code ibv_req_notify_cq}). */
    ARMS(140, COUNT, "armed_notifications", "notifications armed"),
    /** Times that the poller slept. */
    SLEEPS(141, COUNT, "sleeps", "sleeps"),
    /** Sleeps that reached their time-out. */
    SLEEP_TIMEOUTS(142, COUNT, "sleep_timeouts", "sleeps that timed out"),
    /** Completion events read from the channels. */
    EVENTS(143, COUNT, "completion_events", "completion events"),
    /** Sleeps ended by an event after which every queue was empty. */
    SPURIOUS_WAKEUPS(144, COUNT, "spurious_wakeups", "wake-ups without a completion"),

    /** The handler's sequence: slots it has passed. */
    HANDLER_POSITION(200, POSITION, "passed_slots", "sequence"),
    /** Completions passed to the handler. */
    HANDLED(201, COUNT, "handled_completions", "completions handled"),
    /** Exceptions that a handler threw. */
    HANDLER_EXCEPTIONS(202, COUNT, "handler_exceptions", "exceptions"),
    /** Maximum number of published slots pending at the start of a handler's batch. */
    HANDLER_LAG_MAX(203, MAX_VALUE, "lag_max_slots", "largest lag"),
    /** Ring-full stalls with this handler as the slowest. */
    CAUSED_STALLS(204, COUNT, "caused_stalls", "ring-full stalls caused"),
    /** Time for which the ring was full with this handler as the slowest. */
    CAUSED_STALL_NS(205, NANOSECONDS, "caused_stall_nanoseconds", "time the poller waited for it"),
    /** State of the handler's thread: 0 not started, 1 running, 2 ended normally, -1 ended by a failure. */
    HANDLER_STATE(206, GAUGE, "handler_state", "state"),

    /** Slots of the ring. */
    RING_SIZE(300, GAUGE, "ring_size_slots", "ring size"),

    /** Sum of the budgets of the polled queues. */
    BUDGET_DEPTH(400, GAUGE, "budget_depth_requests", "budget"),
    /** Work requests in flight on the polled queues with a budget. */
    BUDGET_IN_FLIGHT(401, GAUGE, "budget_in_flight_requests", "budget in flight"),
    /** Posts refused by the budgets of the polled queues. */
    BUDGET_REFUSED(402, COUNT, "refused_posts", "posts refused by the budget"),

    /** Connections of a set that a poller has. */
    SET_CONNECTIONS(500, GAUGE, "connections", "connections"),
    /** Requests that a set has rejected, at its first poller. */
    SET_REJECTED_REQUESTS(501, COUNT, "rejected_requests", "requests rejected"),
    /** Exceptions of a set's listener and tasks, at its first poller. */
    SET_LISTENER_EXCEPTIONS(502, COUNT, "listener_exceptions", "exceptions of the listener"),
    /** Sends that were refused for lack of credit. */
    SET_REFUSED_SENDS(503, COUNT, "refused_sends", "sends refused for lack of credit");

    /** How a counter's value is interpreted and displayed. */
    public enum Kind {
        /** Incremented per occurrence; a rate is meaningful. */
        COUNT,
        /** Accumulated time in nanoseconds. */
        NANOSECONDS,
        /** A position in the ring; the difference of two is an occupancy or a lag. */
        POSITION,
        /** A current value. */
        GAUGE,
        /** A maximum. */
        MAX_VALUE,
        /** A maximum time in nanoseconds. */
        MAX_NS
    }

    private static final int PARAMETER_OFFSET = 0;
    private static final int NAME_OFFSET = 4;
    private static final int MAX_NAME_LENGTH = CountersReader.MAX_KEY_LENGTH - NAME_OFFSET - Integer.BYTES;
    private static final Set<String> UNITS = Set.of("slots", "completions", "requests", "nanoseconds");
    private static final CounterType[] BY_ID = new CounterType[512];

    static {
        for (final CounterType type : values()) {
            BY_ID[type.id] = type;
        }
    }

    private final int id;
    private final Kind kind;
    private final String metric;
    private final String label;

    CounterType(final int id, final Kind kind, final String metric, final String label) {
        this.id = id;
        this.kind = kind;
        this.metric = metric;
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
     * How the value is interpreted.
     *
     * @return the kind
     */
    public Kind kind() {
        return kind;
    }

    /**
     * The name in snapshots, JMX and OpenMetrics.
     *
     * @return stable across releases; ends with the unit if there is one
     */
    public String metric() {
        return metric;
    }

    /**
     * The unit of the value.
     *
     * @return empty for a number of events or things
     */
    public String unit() {
        final String last = metric.substring(metric.lastIndexOf('_') + 1);
        return UNITS.contains(last) ? last : "";
    }

    /**
     * The label for display.
     *
     * @return without the owner's name
     */
    public String label() {
        return label;
    }

    /**
     * Finds the type with an id.
     *
     * @param id from the counters' metadata
     * @return the type, or null if this release has no type with that id
     */
    public static CounterType ofId(final int id) {
        return id >= 0 && id < BY_ID.length ? BY_ID[id] : null;
    }

    /**
     * Allocates a counter without a parameter.
     *
     * @param counters manager that allocates the counter
     * @param owner    name of the poller, handler or queue
     * @return the counter, with value 0
     */
    public AtomicCounter allocate(final CountersManager counters, final String owner) {
        return allocate(counters, owner, 0, label);
    }

    /**
     * Allocates a counter with a parameter.
     *
     * @param counters  manager that allocates the counter
     * @param owner     name of the poller, handler or queue
     * @param parameter distinguishes counters of the same type and owner
     * @param text      replaces the label of the type
     * @return the counter, with value 0
     */
    public AtomicCounter allocate(
        final CountersManager counters, final String owner, final int parameter, final String text) {
        Objects.requireNonNull(owner, "the owner is null");
        Objects.requireNonNull(text, "the text is null");
        return counters.newCounter(owner + ": " + text, id, key -> writeKey(key, parameter, owner));
    }

    /**
     * The parameter in a counter's key.
     *
     * @param key of the counter
     * @return 0 if the type has none
     */
    public static int parameter(final DirectBuffer key) {
        return key.getInt(PARAMETER_OFFSET);
    }

    /**
     * The owner's name in a counter's key.
     *
     * @param key of the counter
     * @return empty if the key contains no name
     */
    public static String owner(final DirectBuffer key) {
        final int length = key.getInt(NAME_OFFSET);
        return length < 0 || length > MAX_NAME_LENGTH ? "" : key.getStringUtf8(NAME_OFFSET);
    }

    private static void writeKey(final MutableDirectBuffer key, final int parameter, final String owner) {
        key.putInt(PARAMETER_OFFSET, parameter);
        key.putStringUtf8(NAME_OFFSET, beginning(owner, MAX_NAME_LENGTH));
    }

    /**
     * The beginning of a text that fits into some bytes of UTF-8.
     *
     * @param text      any
     * @param maxLength in bytes
     * @return the text itself if it fits
     */
    public static String beginning(final String text, final int maxLength) {
        int length = 0;
        int end = 0;
        while (end < text.length()) {
            final int codePoint = text.codePointAt(end);
            length += Character.toString(codePoint).getBytes(StandardCharsets.UTF_8).length;
            if (length > maxLength) {
                break;
            }
            end += Character.charCount(codePoint);
        }
        return text.substring(0, end);
    }
}
