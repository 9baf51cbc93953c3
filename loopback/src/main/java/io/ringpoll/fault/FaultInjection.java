package io.ringpoll.fault;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.device.Device;
import io.ringpoll.device.DeviceKind;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;
import java.util.Objects;

/**
 * Applies a fault plan to the loopback device of this process until it is closed.
 *
 * <p>The plan covers queue pairs and completion queues that are created from now on, for as long as they live; existing ones are
 * not affected. One plan is applied at a time; another one replaces it. Thread-safe.
 */
public final class FaultInjection implements AutoCloseable {
    static final StructLayout FAULT = MemoryLayout.structLayout(
        JAVA_INT.withName("kind"), JAVA_INT.withName("operation"), JAVA_INT.withName("code"), JAVA_INT.withName("times"),
        JAVA_INT.withName("object"), JAVA_INT.withName("reserved"), JAVA_LONG.withName("at"), JAVA_LONG.withName("every"),
        JAVA_LONG.withName("one_in"), JAVA_LONG.withName("duration_ns"),
        MemoryLayout.sequenceLayout(FaultRule.MAX_FUNCTION_LENGTH + 1, JAVA_BYTE)
            .withName("function"));

    private static final long OPERATION = 4;
    private static final long CODE = 8;
    private static final long TIMES = 12;
    private static final long OBJECT = 16;
    private static final long AT = 24;
    private static final long EVERY = 32;
    private static final long ONE_IN = 40;
    private static final long DURATION = 48;
    private static final long FUNCTION = 56;

    private static FaultInjection present;

    private final FaultPlan plan;
    private final long[] counts;

    private FaultInjection(final FaultPlan plan) {
        this.plan = plan;
        this.counts = new long[plan.rules().size()];
    }

    /**
     * Applies a plan.
     *
     * @param plan to be in force until this is closed
     * @return to be closed; objects that were created meanwhile keep the plan
     * @throws UnsupportedOperationException if the device of this process is not the loopback device
     */
    public static synchronized FaultInjection apply(final FaultPlan plan) {
        requireLoopback();
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment rules = arena.allocate(FAULT.byteSize() * plan.rules().size(), FAULT.byteAlignment());
            for (int i = 0; i < plan.rules().size(); i++) {
                write(plan.rules().get(i), rules.asSlice(i * FAULT.byteSize(), FAULT.byteSize()));
            }
            if (present != null) {
                present.keepCounts();
            }
            final int error = Functions.plan(plan.seed(), rules.address(), plan.rules().size());
            if (error != 0) {
                throw new IllegalStateException("the device refuses the fault plan " + plan + ": errno " + error);
            }
        }
        present = new FaultInjection(plan);
        return present;
    }

    /**
     * Throws unless faults can be injected into the device of this process.
     *
     * @throws UnsupportedOperationException in one line, if it is not the loopback device
     */
    public static void requireLoopback() {
        if (Device.current().kind() != DeviceKind.LOOPBACK) {
            throw new UnsupportedOperationException(
                "a fault plan is for the loopback device; choose it by --device loopback or " + Device.DEVICE_PROPERTY +
                    "=loopback");
        }
    }

    /**
     * The plan.
     *
     * @return as it was applied
     */
    public FaultPlan plan() {
        return plan;
    }

    /**
     * How often a rule has triggered.
     *
     * @param rule its index in the plan
     * @return the present value; the final one after close
     * @throws IndexOutOfBoundsException if the plan has no such rule
     */
    public long injected(final int rule) {
        Objects.checkIndex(rule, counts.length);
        synchronized (FaultInjection.class) {
            return present == this ? Functions.injected(rule) : counts[rule];
        }
    }

    /**
     * How often all rules together have triggered.
     *
     * @return the present value
     */
    public long injected() {
        long sum = 0;
        for (int rule = 0; rule < counts.length; rule++) {
            sum += injected(rule);
        }
        return sum;
    }

    /** Takes the plan back, unless another has taken its place. */
    @Override
    public void close() {
        synchronized (FaultInjection.class) {
            if (present == this) {
                keepCounts();
                present = null;
                Functions.plan(0, 0, 0);
            }
        }
    }

    private void keepCounts() {
        for (int rule = 0; rule < counts.length; rule++) {
            counts[rule] = Functions.injected(rule);
        }
    }

    private static void write(final FaultRule rule, final MemorySegment fault) {
        fault.set(JAVA_INT, 0, rule.kind().ordinal());
        fault.set(JAVA_INT, OPERATION, rule.operation().ordinal());
        fault.set(JAVA_INT, CODE, rule.code());
        fault.set(JAVA_INT, TIMES, rule.times());
        fault.set(JAVA_INT, OBJECT, rule.object());
        fault.set(JAVA_LONG, AT, rule.at());
        fault.set(JAVA_LONG, EVERY, rule.every());
        fault.set(JAVA_LONG, ONE_IN, rule.oneIn());
        fault.set(JAVA_LONG, DURATION, rule.durationNs());
        fault.setString(FUNCTION, rule.function());
    }

    /** Bound when the first plan is applied, by when the device is known to have them. */
    private static final class Functions {
        private static final NativeLibrary DEVICE = Libraries.current().ibverbs();
        private static final MethodHandle ringpoll_loopback_plan$mh =
            DEVICE.plain("ringpoll_loopback_plan", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
        private static final MethodHandle ringpoll_loopback_injected$mh =
            DEVICE.plain("ringpoll_loopback_injected", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

        static int plan(final long seed, final long rules, final int count) {
            try {
                return (int) ringpoll_loopback_plan$mh.invokeExact(seed, rules, count);
            } catch (final Throwable t) {
                throw NativeLibrary.unexpected(t);
            }
        }

        static long injected(final int rule) {
            try {
                return (long) ringpoll_loopback_injected$mh.invokeExact(rule);
            } catch (final Throwable t) {
                throw NativeLibrary.unexpected(t);
            }
        }
    }
}
