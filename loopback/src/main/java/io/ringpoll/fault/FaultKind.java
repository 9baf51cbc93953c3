package io.ringpoll.fault;

/**
 * Kinds of faults: {@code enum ringpoll_loopback_fault_kind}, in the same order, with the events that each counts.
 *
 * <p>{@code docs/reference/fault-plans.md} describes each.
 */
public enum FaultKind {
    /** An operation of a queue pair ends with a status; counted: its operations of that kind. */
    STATUS("status", Argument.STATUS),
    /** Posts find the send queue full; counted: tries to post to it. */
    FULL("full", Argument.TIMES),
    /** A message meets a receiver that is not ready; counted: messages of a queue pair. */
    RECEIVER_NOT_READY("rnr", Argument.TIMES),
    /** The connection is gone, both sides fail and are notified; counted: posts to a send queue. */
    DISCONNECT("disconnect", Argument.NONE),
    /** A poll fails and takes nothing; counted: polls of a completion queue. */
    POLL("poll", Argument.TIMES),
    /** A completion finds its queue full, which is dead then; counted: completions of a queue. */
    OVERRUN("overrun", Argument.NONE),
    /** A completion, and all behind it, is seen later; counted: completions of a queue. */
    DELAY("delay", Argument.DURATION),
    /** The same until completions of other queues have been polled, 20 ms at most; counted: completions of a queue. */
    REORDER("reorder", Argument.TIMES),
    /** An event is raised without a completion; counted: requests for one of a completion queue. */
    SPURIOUS_EVENT("spurious-event", Argument.NONE),
    /** An event is raised later than its completion; counted: events of a completion queue. */
    LATE_EVENT("late-event", Argument.DURATION),
    /** A call of set-up or tear-down fails; counted: calls of that function. */
    CALL("call", Argument.FUNCTION);

    /** The argument of a kind, in addition to its trigger. */
    enum Argument {
        NONE, STATUS, TIMES, DURATION, FUNCTION
    }

    private final String label;
    private final Argument argument;

    FaultKind(final String label, final Argument argument) {
        this.label = label;
        this.argument = argument;
    }

    /**
     * As a plan's text has it.
     *
     * @return for instance {@code "late-event"}
     */
    public String label() {
        return label;
    }

    Argument argument() {
        return argument;
    }

    /** Whether one trigger affects several operations in a row. */
    boolean repeats() {
        return this == FULL || this == POLL;
    }
}
