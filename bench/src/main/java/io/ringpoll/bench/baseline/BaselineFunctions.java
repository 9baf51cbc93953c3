package io.ringpoll.bench.baseline;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.device.Device;
import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.foreign.SymbolLookup;
import java.lang.invoke.MethodHandle;

/** The functions and structs of {@code baseline.h}, by downcalls. */
final class BaselineFunctions {
    static final int MAX_HANDLERS = 3;

    static final StructLayout OPTIONS = MemoryLayout.structLayout(
        ADDRESS.withName("device"), JAVA_LONG.withName("record_from_ns"), JAVA_LONG.withName("record_until_ns"),
        JAVA_INT.withName("ring_size"), JAVA_INT.withName("batch"), JAVA_INT.withName("handlers"), JAVA_INT.withName("work"),
        JAVA_INT.withName("wait"), JAVA_INT.withName("poller_cpu"),
        MemoryLayout.sequenceLayout(MAX_HANDLERS, JAVA_INT).withName("handler_cpu"),
        MemoryLayout.sequenceLayout(MAX_HANDLERS, JAVA_INT).withName("handler_paths"), JAVA_INT.withName("stall_us"),
        JAVA_INT.withName("more_count"), ADDRESS.withName("more"));
    static final StructLayout SAMPLE = MemoryLayout.structLayout(JAVA_LONG.withName("published"), JAVA_LONG.withName("passed"));
    static final StructLayout HANDLER_RESULT = MemoryLayout.structLayout(
        JAVA_LONG.withName("completions"), JAVA_LONG.withName("sum"), JAVA_LONG.withName("involuntary_switches"));
    static final StructLayout RESULT = MemoryLayout.structLayout(
        JAVA_LONG.withName("published"), JAVA_LONG.withName("poller_switches"),
        MemoryLayout.sequenceLayout(MAX_HANDLERS, HANDLER_RESULT).withName("handler"), ADDRESS.withName("histogram"),
        JAVA_INT.withName("histogram_length"), JAVA_INT.withName("queue_fault"));

    static final StructLayout TRAFFIC = MemoryLayout.structLayout(
        JAVA_LONG.withName("start_ns"), JAVA_LONG.withName("period_ns"), ADDRESS.withName("schedule_ns"),
        JAVA_LONG.withName("round_trips"), JAVA_INT.withName("schedule_length"), JAVA_INT.withName("size"),
        JAVA_INT.withName("operation"), JAVA_INT.withName("poster_cpu"));

    private static final NativeLibrary LIBRARY = load();
    private static final MethodHandle baseline_start$mh =
        LIBRARY.capturing("baseline_start", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_sample$mh =
        LIBRARY.plain("baseline_sample", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_stop$mh =
        LIBRARY.plain("baseline_stop", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_free$mh =
        LIBRARY.plain("baseline_free", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_calls$mh = LIBRARY.capturing("baseline_calls",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_link_open$mh =
        LIBRARY.capturing("baseline_link_open", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_link_close$mh =
        LIBRARY.plain("baseline_link_close", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_ping_pong_start$mh = LIBRARY.capturing(
        "baseline_ping_pong_start", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_paced_start$mh = LIBRARY.capturing(
        "baseline_paced_start", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_link_is_done$mh =
        LIBRARY.plain("baseline_link_is_done", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_link_rest$mh =
        LIBRARY.capturing("baseline_link_rest", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));

    private static final MethodHandle baseline_queue_open$mh = LIBRARY.capturing(
        "baseline_queue_open", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_queue_close$mh =
        LIBRARY.plain("baseline_queue_close", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_queues_open$mh =
        LIBRARY.capturing("baseline_queues_open", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle baseline_queues_close$mh =
        LIBRARY.plain("baseline_queues_close", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_verbs_open$mh =
        LIBRARY.capturing("baseline_verbs_open", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_verbs_close$mh =
        LIBRARY.plain("baseline_verbs_close", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_verbs_posts$mh = LIBRARY.capturing(
        "baseline_verbs_posts", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_verbs_prepare$mh = LIBRARY.plain(
        "baseline_verbs_prepare", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_queue_extended$mh =
        LIBRARY.plain("baseline_queue_extended", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_posts$mh = LIBRARY.capturing(
        "baseline_posts", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_echo_open$mh =
        LIBRARY.capturing("baseline_echo_open", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_echo_start$mh =
        LIBRARY.plain("baseline_echo_start", FunctionDescriptor.ofVoid(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_echo_answers$mh =
        LIBRARY.plain("baseline_echo_answers", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_echo_stop$mh =
        LIBRARY.capturing("baseline_echo_stop", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_echo_histogram$mh =
        LIBRARY.plain("baseline_echo_histogram", FunctionDescriptor.of(ADDRESS, JAVA_LONG));
    private static final MethodHandle baseline_echo_close$mh =
        LIBRARY.plain("baseline_echo_close", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_end_listen$mh = LIBRARY.capturing(
        "baseline_end_listen", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle baseline_end_port$mh =
        LIBRARY.plain("baseline_end_port", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_end_accept$mh =
        LIBRARY.capturing("baseline_end_accept", FunctionDescriptor.of(JAVA_INT, JAVA_LONG));
    private static final MethodHandle baseline_end_connect$mh = LIBRARY.capturing(
        "baseline_end_connect", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT));
    private static final MethodHandle baseline_end_ping$mh = LIBRARY.capturing(
        "baseline_end_ping", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_end_answer$mh =
        LIBRARY.capturing("baseline_end_answer", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_end_writes$mh = LIBRARY.capturing("baseline_end_writes",
        FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_end_close$mh =
        LIBRARY.plain("baseline_end_close", FunctionDescriptor.ofVoid(JAVA_LONG));
    private static final MethodHandle baseline_copies$mh = LIBRARY.capturing(
        "baseline_copies", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle baseline_survive_steps$mh =
        LIBRARY.capturing("baseline_survive_steps", FunctionDescriptor.of(JAVA_INT));

    private BaselineFunctions() {
    }

    static long queueOpen(final long device, final long rpmaCq, final long ibvCq, final long pollCq) {
        try {
            return (long) baseline_queue_open$mh.invokeExact(
                CallState.current().errnoSegment(), device, rpmaCq, ibvCq, pollCq);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void queueClose(final long queue) {
        try {
            baseline_queue_close$mh.invokeExact(queue);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long queuesOpen(final long device, final int count) {
        try {
            return (long) baseline_queues_open$mh.invokeExact(CallState.current().errnoSegment(), device, count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void queuesClose(final long queues) {
        try {
            baseline_queues_close$mh.invokeExact(queues);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long verbsOpen(final long address, final long port) {
        try {
            return (long) baseline_verbs_open$mh.invokeExact(CallState.current().errnoSegment(), address, port);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void verbsClose(final long verbs) {
        try {
            baseline_verbs_close$mh.invokeExact(verbs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long verbsPosts(final long verbs, final int operation, final int sizeBytes, final long count) {
        try {
            return (long) baseline_verbs_posts$mh.invokeExact(
                CallState.current().errnoSegment(), verbs, operation, sizeBytes, count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void verbsPrepare(final long verbs, final int operation, final int sizeBytes, final long calls) {
        try {
            baseline_verbs_prepare$mh.invokeExact(verbs, operation, sizeBytes, calls);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long queueExtended(final long queue, final long startPoll) {
        try {
            return (long) baseline_queue_extended$mh.invokeExact(queue, startPoll);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long posts(final long link, final int operation, final int sizeBytes, final long count) {
        try {
            return (long) baseline_posts$mh.invokeExact(
                CallState.current().errnoSegment(), link, operation, sizeBytes, count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long start(final long options) {
        try {
            return (long) baseline_start$mh.invokeExact(CallState.current().errnoSegment(), options);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void sample(final long baseline, final long sample) {
        try {
            baseline_sample$mh.invokeExact(baseline, sample);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void stop(final long baseline, final long result) {
        try {
            baseline_stop$mh.invokeExact(baseline, result);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void free(final long baseline) {
        try {
            baseline_free$mh.invokeExact(baseline);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long calls(final long queue, final int call, final int batch, final long calls, final long completions) {
        try {
            return (long) baseline_calls$mh.invokeExact(
                CallState.current().errnoSegment(), queue, call, batch, calls, completions);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long linkOpen(final long address, final long port) {
        try {
            return (long) baseline_link_open$mh.invokeExact(CallState.current().errnoSegment(), address, port);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void linkClose(final long link) {
        try {
            baseline_link_close$mh.invokeExact(link);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long pingPongStart(final long link, final long options, final long traffic) {
        try {
            return (long) baseline_ping_pong_start$mh.invokeExact(CallState.current().errnoSegment(), link, options, traffic);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long pacedStart(final long link, final long options, final long traffic) {
        try {
            return (long) baseline_paced_start$mh.invokeExact(CallState.current().errnoSegment(), link, options, traffic);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int linkIsDone(final long link) {
        try {
            return (int) baseline_link_is_done$mh.invokeExact(link);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int linkRest(final long link) {
        try {
            return (int) baseline_link_rest$mh.invokeExact(CallState.current().errnoSegment(), link);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long echoOpen(final long address, final long port, final long options) {
        try {
            return (long) baseline_echo_open$mh.invokeExact(CallState.current().errnoSegment(), address, port, options);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void echoStart(final long echo, final int pingPong, final long recordFromNs, final long recordUntilNs) {
        try {
            baseline_echo_start$mh.invokeExact(echo, pingPong, recordFromNs, recordUntilNs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long echoAnswers(final long echo) {
        try {
            return (long) baseline_echo_answers$mh.invokeExact(echo);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int echoStop(final long echo) {
        try {
            return (int) baseline_echo_stop$mh.invokeExact(CallState.current().errnoSegment(), echo);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static MemorySegment echoHistogram(final long echo) {
        try {
            return (MemorySegment) baseline_echo_histogram$mh.invokeExact(echo);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void echoClose(final long echo) {
        try {
            baseline_echo_close$mh.invokeExact(echo);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long endListen(final int medium, final long place, final int port, final int wait) {
        try {
            return (long) baseline_end_listen$mh.invokeExact(CallState.current().errnoSegment(), medium, place, port, wait);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int endPort(final long end) {
        try {
            return (int) baseline_end_port$mh.invokeExact(end);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int endAccept(final long end) {
        try {
            return (int) baseline_end_accept$mh.invokeExact(CallState.current().errnoSegment(), end);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static long endConnect(final int medium, final long place, final int port, final int wait) {
        try {
            return (long) baseline_end_connect$mh.invokeExact(CallState.current().errnoSegment(), medium, place, port, wait);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int endPing(final long end, final long fromNs, final long untilNs, final long histogram) {
        try {
            return (int) baseline_end_ping$mh.invokeExact(CallState.current().errnoSegment(), end, fromNs, untilNs, histogram);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int endAnswer(final long end, final long untilNs) {
        try {
            return (int) baseline_end_answer$mh.invokeExact(CallState.current().errnoSegment(), end, untilNs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int endWrites(
        final long end, final int sizeBytes, final int depth, final long fromNs, final long untilNs, final long transfers) {
        try {
            return (int) baseline_end_writes$mh.invokeExact(
                CallState.current().errnoSegment(), end, sizeBytes, depth, fromNs, untilNs, transfers);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static void endClose(final long end) {
        try {
            baseline_end_close$mh.invokeExact(end);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int copies(
        final int sizeBytes, final int slots, final long fromNs, final long untilNs, final long transfers) {
        try {
            return (int) baseline_copies$mh.invokeExact(
                CallState.current().errnoSegment(), sizeBytes, slots, fromNs, untilNs, transfers);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    static int surviveSteps() {
        try {
            return (int) baseline_survive_steps$mh.invokeExact(CallState.current().errnoSegment());
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @SuppressWarnings("restricted")
    private static NativeLibrary load() {
        // Opens the device first, so that the baseline uses the loaded librpma and libibverbs.
        Device.current();
        final String path = BaselineLibrary.find().toString();
        return new NativeLibrary(SymbolLookup.libraryLookup(path, Arena.global()), path);
    }
}
