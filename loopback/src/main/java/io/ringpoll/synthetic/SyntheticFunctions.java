package io.ringpoll.synthetic;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.StructLayout;
import java.lang.invoke.MethodHandle;

/** The functions and structs of {@code ringpoll_synthetic.h}, by downcalls that are not on the hot path. */
final class SyntheticFunctions {
    static final StructLayout KIND = MemoryLayout.structLayout(
        JAVA_INT.withName("status"), JAVA_INT.withName("opcode"), JAVA_INT.withName("qp_num"), JAVA_INT.withName("byte_len"));
    static final StructLayout PROGRAM = MemoryLayout.structLayout(
        JAVA_LONG.withName("count"), JAVA_LONG.withName("start_ns"), JAVA_LONG.withName("period_ns"),
        ADDRESS.withName("schedule_ns"), ADDRESS.withName("pattern"), JAVA_INT.withName("schedule_length"),
        JAVA_INT.withName("pattern_length"), JAVA_INT.withName("max_batch"), JAVA_INT.withName("empty_polls"));

    private static final NativeLibrary LIBIBVERBS = Libraries.current().ibverbs();
    private static final MethodHandle ringpoll_synthetic_open$mh =
        LIBIBVERBS.capturing("ringpoll_synthetic_open", FunctionDescriptor.of(JAVA_LONG));
    private static final MethodHandle ibv_close_device$mh =
        LIBIBVERBS.capturing("ibv_close_device", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle ringpoll_synthetic_start$mh =
        LIBIBVERBS.plain("ringpoll_synthetic_start", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ringpoll_synthetic_given$mh =
        LIBIBVERBS.plain("ringpoll_synthetic_given", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle ringpoll_synthetic_take_longest_gap$mh =
        LIBIBVERBS.plain("ringpoll_synthetic_take_longest_gap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));

    private SyntheticFunctions() {
    }

    static long open() {
        try {
            return (long) ringpoll_synthetic_open$mh.invokeExact(CallState.current().errnoSegment());
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int close(final long context) {
        try {
            return (int) ibv_close_device$mh.invokeExact(CallState.current().errnoSegment(), context);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int start(final long context, final long program) {
        try {
            return (int) ringpoll_synthetic_start$mh.invokeExact(context, program);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int given(final long context, final long completions) {
        try {
            return (int) ringpoll_synthetic_given$mh.invokeExact(context, completions);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int takeLongestGap(final long context, final long gapNs) {
        try {
            return (int) ringpoll_synthetic_take_longest_gap$mh.invokeExact(context, gapNs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
