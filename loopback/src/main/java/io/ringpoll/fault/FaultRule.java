package io.ringpoll.fault;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.os.Errno;
import java.util.Locale;
import java.util.Objects;
import java.util.concurrent.TimeUnit;

/**
 * One rule of a fault plan: a fault and its trigger. Immutable.
 *
 * <p>The factories create rules that trigger at the first count; {@link #at}, {@link #every}, {@link #oneIn} and {@link
 * #ofObject} change that.
 *
 * @param kind       the kind of fault
 * @param operation  of a status: which operations; else {@link FaultOperation#ANY}
 * @param code       of a status: a value of {@link WcStatus}; of a failing call: errno; else 0
 * @param times      number in a row, or number to wait for; 1 where it has no meaning
 * @param durationNs how late, in nanoseconds; 0 where it has no meaning
 * @param function   of a failing call: its name, or empty for any; else empty
 * @param at         the count that triggers it, from 1; 0 if it is random
 * @param every      the number of counts between further triggers; 0 for one trigger only
 * @param oneIn      for a random rule: one in so many, by the plan's seed; else 0
 * @param object     the n-th queue pair, or completion queue, since the plan was applied; 0 for each of them
 */
public record FaultRule(
    FaultKind kind, FaultOperation operation, int code, int times, long durationNs, String function, long at, long every,
    long oneIn, int object) {
    /** The longest that a completion or an event can be late, in nanoseconds. */
    public static final long MAX_DURATION_NS = TimeUnit.SECONDS.toNanos(10);
    /** The most in a row. */
    public static final int MAX_TIMES = 1024;

    static final int MAX_FUNCTION_LENGTH = 39;
    private static final int MAX_ERRNO = 4095;

    /** Checks that it makes sense. */
    public FaultRule {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(operation, "operation");
        Objects.requireNonNull(function, "function");
        final FaultKind.Argument argument = kind.argument();
        require(at >= 0 && every >= 0 && oneIn >= 0 && object >= 0, "a number is negative");
        require(at > 0 != oneIn > 0, "it triggers either at a number or one in so many, and numbers begin with 1");
        require(every == 0 || at > 0, "it triggers again after so many only if it triggers at a number first");
        require(times >= 1 && times <= MAX_TIMES, "times " + times + " is not from 1 to " + MAX_TIMES);
        require(times == 1 || argument == FaultKind.Argument.TIMES, kind.label() + " has no times");
        require(operation == FaultOperation.ANY || kind == FaultKind.STATUS, kind.label() + " has no operation");
        require(
            argument == FaultKind.Argument.DURATION ? durationNs > 0 && durationNs <= MAX_DURATION_NS : durationNs == 0,
            "a " + kind.label() + " by " + durationNs + " ns is not possible; above 0 and up to 10s is for delay and late-event");
        require(
            kind != FaultKind.STATUS || code > WcStatus.SUCCESS && code <= WcStatus.GENERAL_ERR,
            WcStatus.name(code) + " is no status that a failed operation can have");
        require(kind != FaultKind.CALL || code > 0 && code <= MAX_ERRNO, code + " is no errno");
        require(kind == FaultKind.STATUS || kind == FaultKind.CALL || code == 0, kind.label() + " has no code");
        require(kind == FaultKind.CALL || function.isEmpty(), kind.label() + " has no function");
        require(function.length() <= MAX_FUNCTION_LENGTH && function.chars().allMatch(FaultRule::isOfName),
            "'" + function + "' is not the name of a function");
        require(kind != FaultKind.CALL || object == 0, "calls belong to no object");
    }

    private static void require(final boolean holds, final String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    private static boolean isOfName(final int character) {
        return character == '_' || character >= 'a' && character <= 'z' || character >= '0' && character <= '9';
    }

    private static FaultRule first(
        final FaultKind kind, final int code, final int times, final long durationNs, final String function) {
        return new FaultRule(kind, FaultOperation.ANY, code, times, durationNs, function, 1, 0, 0, 0);
    }

    /**
     * An operation ends with a status.
     *
     * @param status    a value of {@link WcStatus}, not success
     * @param operation the operations that are counted and failed
     * @return a rule that triggers at the first count
     */
    public static FaultRule status(final int status, final FaultOperation operation) {
        return new FaultRule(FaultKind.STATUS, operation, status, 1, 0, "", 1, 0, 0, 0);
    }

    /**
     * A kind that needs no argument, or applies once.
     *
     * @param kind neither a status, nor late, nor a call
     * @return a rule that triggers at the first count
     */
    public static FaultRule of(final FaultKind kind) {
        return first(kind, 0, 1, 0, "");
    }

    /**
     * Several in a row: full queues, failed polls, tries at a receiver that is not ready, completions to wait for.
     *
     * @param kind  one that has times
     * @param times their number
     * @return a rule that triggers at the first count
     */
    public static FaultRule repeated(final FaultKind kind, final int times) {
        return first(kind, 0, times, 0, "");
    }

    /**
     * A late completion or event.
     *
     * @param kind       {@link FaultKind#DELAY} or {@link FaultKind#LATE_EVENT}
     * @param durationNs how late, in nanoseconds
     * @return a rule that triggers at the first count
     */
    public static FaultRule late(final FaultKind kind, final long durationNs) {
        return first(kind, 0, 1, durationNs, "");
    }

    /**
     * A call that fails.
     *
     * @param function of verbs or the connection manager; empty for any
     * @param errno    that it fails with
     * @return a rule that triggers at the first count
     */
    public static FaultRule call(final String function, final int errno) {
        return first(FaultKind.CALL, errno, 1, 0, function);
    }

    /**
     * The same at another number.
     *
     * @param number from 1
     * @return another rule
     */
    public FaultRule at(final long number) {
        return new FaultRule(kind, operation, code, times, durationNs, function, number, every, 0, object);
    }

    /**
     * The same again and again.
     *
     * @param number after how many more; 0 for never again
     * @return another rule
     */
    public FaultRule every(final long number) {
        return new FaultRule(kind, operation, code, times, durationNs, function, at, number, 0, object);
    }

    /**
     * The same at random.
     *
     * @param number one in so many, drawn from the plan's seed
     * @return another rule
     */
    public FaultRule oneIn(final long number) {
        return new FaultRule(kind, operation, code, times, durationNs, function, 0, 0, number, object);
    }

    /**
     * The same for one queue pair or completion queue alone.
     *
     * @param number the n-th that is created under the plan, from 1; 0 for each
     * @return another rule
     */
    public FaultRule ofObject(final int number) {
        return new FaultRule(kind, operation, code, times, durationNs, function, at, every, oneIn, number);
    }

    /** As in a plan's text; {@link FaultPlan#parse} reads it. */
    @Override
    public String toString() {
        final StringBuilder text = new StringBuilder(kind.label());
        switch (kind.argument()) {
            case STATUS -> {
                text.append(':').append(statusLabel(code));
                if (operation != FaultOperation.ANY) {
                    text.append(':').append(operation.label());
                }
            }
            case TIMES -> {
                if (times > 1) {
                    text.append(':').append(times);
                }
            }
            case DURATION -> text.append(':').append(durationLabel(durationNs));
            case FUNCTION -> text.append(':').append(function.isEmpty() ? "any" : function).append(':').append(errnoLabel(code));
            default -> { }
        }
        text.append('@');
        if (oneIn > 0) {
            text.append('~').append(oneIn);
        } else {
            text.append(at);
            if (every > 0) {
                text.append('+').append(every);
            }
        }
        return object > 0 ? text.append('#').append(object).toString() : text.toString();
    }

    static String statusLabel(final int status) {
        return WcStatus.name(status).substring("IBV_WC_".length()).toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** A number where the C library has no name. */
    static String errnoLabel(final int errno) {
        final String name = Errno.name(errno);
        return name.startsWith("E") ? name : Integer.toString(errno);
    }

    private static String durationLabel(final long ns) {
        final String[] units = {"ns", "us", "ms", "s"};
        long number = ns;
        int unit = 0;
        while (unit < units.length - 1 && number % 1000 == 0) {
            number /= 1000;
            unit++;
        }
        return number + units[unit];
    }

    /** Whether it triggers at count n of an object, by the same decision as the device. */
    boolean triggers(final long seed, final int index, final int ofObject, final long n) {
        if (object != 0 && object != ofObject) {
            return false;
        }
        final int rows = kind.repeats() ? times : 1;
        for (int back = 0; back < rows && back < n; back++) {
            if (begins(seed, index, ofObject, n - back)) {
                return true;
            }
        }
        return false;
    }

    private boolean begins(final long seed, final int index, final int ofObject, final long n) {
        if (oneIn != 0) {
            final long drawn = mix(mix(mix(seed + 0x9E37_79B9_7F4A_7C15L * (index + 1)) ^ ofObject) ^ n);
            return Long.remainderUnsigned(drawn, oneIn) == 0;
        }
        return n == at || every != 0 && n > at && (n - at) % every == 0;
    }

    /** The finaliser of SplitMix64, as plan.c of the device has it. */
    private static long mix(final long number) {
        long z = number;
        z = (z ^ z >>> 30) * 0xBF58_476D_1CE4_E5B9L;
        z = (z ^ z >>> 27) * 0x94D0_49BB_1331_11EBL;
        return z ^ z >>> 31;
    }
}
