package io.ringpoll.internal.tuning.doctor;

import static io.ringpoll.internal.tuning.doctor.Effect.HIGH;
import static io.ringpoll.internal.tuning.doctor.Effect.LOW;
import static io.ringpoll.internal.tuning.doctor.Effect.MEDIUM;
import static io.ringpoll.internal.tuning.doctor.Scope.COMMAND;
import static io.ringpoll.internal.tuning.doctor.Scope.MACHINE;
import static io.ringpoll.internal.tuning.doctor.Verdict.OK;
import static io.ringpoll.internal.tuning.doctor.Verdict.UNKNOWN;
import static io.ringpoll.internal.tuning.doctor.Verdict.WARNING;

import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.util.List;
import java.util.Locale;

/** Checks of the Java heap: its collector and its pages. */
final class HeapChecks {
    private static final List<String> CONCURRENT = List.of("UseZGC", "UseShenandoahGC", "UseEpsilonGC");
    private static final List<String> STOPPING = List.of("UseG1GC", "UseParallelGC", "UseSerialGC");
    private static final String HUGE = "sys/kernel/mm/hugepages/";
    private static final long UNIT_BYTES = 2048L << 10;

    private HeapChecks() {
    }

    static List<Check> all() {
        return List.of(
            new Check("garbage-collector", "garbage collector",
                "A collector that stops the threads stops the poller: while it works, completions wait in the queue.",
                HIGH, COMMAND, HeapChecks::collector, OK, WARNING, UNKNOWN),
            new Check("heap-pretouch", "heap touched at start",
                "A heap page that is touched for the first time costs a page fault on the thread that touches it.",
                MEDIUM, COMMAND, HeapChecks::preTouch, OK, WARNING, UNKNOWN),
            new Check("huge-pages", "reserved huge pages",
                "With -XX:+UseLargePages the heap needs reserved pages; without them the JVM falls back to small ones.",
                LOW, MACHINE, HeapChecks::huge, OK, WARNING, UNKNOWN));
    }

    private static Finding collector(final Examined machine) {
        for (final String flag : CONCURRENT) {
            if (machine.jvm().isSet(flag)) {
                return Finding.ok(name(flag));
            }
        }
        for (final String flag : STOPPING) {
            if (machine.jvm().isSet(flag)) {
                return Finding.warning(name(flag) + ": stops all threads for milliseconds when the application allocates",
                    Jvm.add("-XX:+UseZGC"));
            }
        }
        return Finding.unknown("this JVM does not report its collector");
    }

    private static String name(final String flag) {
        return flag.substring("Use".length());
    }

    private static Finding preTouch(final Examined machine) {
        final Jvm jvm = machine.jvm();
        if (!jvm.flags().containsKey("AlwaysPreTouch") || jvm.number("MaxHeapSize").isEmpty()
            || jvm.number("InitialHeapSize").isEmpty()) {
            return Finding.unknown("this JVM does not show its heap flags");
        }
        final long initial = jvm.number("InitialHeapSize").getAsLong();
        final long max = jvm.number("MaxHeapSize").getAsLong();
        final String sizes = String.format(Locale.ROOT, "initial %d MiB, maximum %d MiB", initial >> 20, max >> 20);
        if (jvm.isSet("AlwaysPreTouch") && initial == max) {
            return Finding.ok("touched at start, " + sizes);
        }
        return Finding.warning((jvm.isSet("AlwaysPreTouch") ? "touched at start, but it grows: " : "not touched at start: ")
            + sizes, fixedHeap(jvm, max));
    }

    /** Keeps the maximum that was chosen; a default one, a quarter of the machine's memory, may be too much to touch. */
    private static String fixedHeap(final Jvm jvm, final long max) {
        final boolean chosen = !jvm.argumentsWith("-Xmx", "-XX:MaxHeapSize").isEmpty();
        final String size = max % (1 << 30) == 0 ? (max >> 30) + "g" : max % (1 << 20) == 0 ? (max >> 20) + "m"
            : Long.toString(max);
        return Jvm.add("-Xms" + size + " -Xmx" + size + " -XX:+AlwaysPreTouch")
            + (chosen ? "" : "   # or a smaller size, the same for both");
    }

    private static Finding huge(final Examined machine) {
        final Jvm jvm = machine.jvm();
        if (!jvm.isSet("UseLargePages") || jvm.isSet("UseTransparentHugePages")) {
            return Finding.ok("not needed: neither ringpoll nor this JVM uses them");
        }
        final MachineFiles files = machine.files();
        if (files.names(HUGE).isEmpty()) {
            return Finding.unknown("this kernel shows no huge pages");
        }
        long reserved = 0;
        for (final String size : files.names(HUGE)) {
            reserved += files.number(HUGE + size + "/nr_hugepages").orElse(0)
                * (Long.parseLong("0" + size.replaceAll("\\D", "")) << 10);
        }
        final long heap = jvm.number("MaxHeapSize").orElse(0);
        final String reading = String.format(Locale.ROOT, "%d MiB reserved for a heap of %d MiB", reserved >> 20, heap >> 20);
        return reserved >= heap ? Finding.ok(reading) : Finding.warning(reading,
            Examined.script("huge-pages --pages " + (heap + UNIT_BYTES - 1) / UNIT_BYTES));
    }
}
