package io.ringpoll.cli.tuning;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.ringpoll.bench.jitter.CpuJitter;
import io.ringpoll.bench.jitter.JitterResult;
import io.ringpoll.internal.tuning.topology.MachineDescription;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** Formats the results of the jitter meter as text and as JSON. */
final class JitterReport {
    private static final long US = 1_000;
    private static final long MS = 1_000_000;
    private static final List<Long> THRESHOLDS_NS = List.of(10 * US, 100 * US, MS, 10 * MS);
    private static final int INTERRUPTS_SHOWN = 6;
    private static final int BAR = 40;

    private final MachineDescription machine;
    private final JitterResult result;

    JitterReport(final MachineDescription machine, final JitterResult result) {
        this.machine = machine;
        this.result = result;
    }

    void print(final PrintWriter out) {
        out.println(machine.line());
        out.printf(Locale.ROOT, "each loop %.1f s in turns; reading the clock costs %d ns; a gap of %d ns or more counts%n%n",
            result.durationNs() / 1e9, result.clockNs(), result.floorNs());
        out.printf("%-4s %-5s %9s %8s %9s %9s %10s %8s %8s %8s %8s %9s %9s%n", "CPU", "loop", "gaps/s", "lost %", "p50 us",
            "p99 us",
            "max us", ">10 us", ">100 us", ">1 ms", ">10 ms", "switches", "steal ms");
        for (int i = 0; i < result.java().size(); i++) {
            row(out, "Java", result.java().get(i));
            if (!result.c().isEmpty()) {
                row(out, "C", result.c().get(i));
            }
        }
        for (int i = 0; i < result.java().size(); i++) {
            histogram(out, i);
        }
        for (int i = 0; i < result.java().size(); i++) {
            interrupts(out, "Java", result.java().get(i));
            if (!result.c().isEmpty()) {
                interrupts(out, "C", result.c().get(i));
            }
        }
        out.println();
        out.println(result.c().isEmpty() ? "the loop in C did not run: interruptions by the JVM cannot be distinguished"
            : "interruptions of both loops are due to the machine; those of the Java loop only are due to the JVM");
    }

    private static void row(final PrintWriter out, final String loop, final CpuJitter cpu) {
        final double seconds = cpu.elapsedNs() / 1e9;
        out.printf(Locale.ROOT, "%-4d %-5s %9.1f %8.3f %9.1f %9.1f %10.1f %8d %8d %8d %8d %9d %9.0f%n", cpu.cpu(), loop,
            cpu.gaps().getTotalCount() / seconds, 100 * cpu.lostShare(), microseconds(cpu, 50), microseconds(cpu, 99),
            cpu.gaps().getMaxValue() / (double) US, cpu.countOver(THRESHOLDS_NS.get(0)), cpu.countOver(THRESHOLDS_NS.get(1)),
            cpu.countOver(THRESHOLDS_NS.get(2)), cpu.countOver(THRESHOLDS_NS.get(3)),
            cpu.voluntarySwitches() + cpu.involuntarySwitches(), cpu.stolenNs() / (double) MS);
    }

    private static double microseconds(final CpuJitter cpu, final double percentile) {
        return cpu.gaps().getTotalCount() == 0 ? 0 : cpu.gaps().getValueAtPercentile(percentile) / (double) US;
    }

    private void histogram(final PrintWriter out, final int index) {
        final CpuJitter java = result.java().get(index);
        final CpuJitter c = result.c().isEmpty() ? null : result.c().get(index);
        out.printf("%nCPU %d: gaps by length%n", java.cpu());
        out.printf("%18s %9s%s%n", "", "Java", c == null ? "" : "         C");
        long from = result.floorNs();
        for (final long to : steps()) {
            if (to <= from) {
                continue;
            }
            final long count = java.countBetween(from, to);
            final long inC = c == null ? 0 : c.countBetween(from, to);
            if (count + inC > 0) {
                out.printf("%7s - %-8s %9d%s  %s%n", length(from), length(to), count,
                    c == null ? "" : String.format(Locale.ROOT, " %9d", inC), bar(count));
            }
            from = to;
        }
    }

    /** 1, 2 and 5 times each power of ten, from a microsecond to two minutes, in nanoseconds. */
    private static List<Long> steps() {
        return java.util.stream.LongStream.iterate(US, power -> power <= 100_000 * MS, power -> power * 10)
            .flatMap(power -> java.util.stream.LongStream.of(power, 2 * power, 5 * power)).boxed().toList();
    }

    private static String length(final long ns) {
        return ns < MS ? trimmed(ns / (double) US) + " us" : ns < 1_000 * MS ? trimmed(ns / (double) MS) + " ms"
            : trimmed(ns / 1e9) + " s";
    }

    private static String trimmed(final double value) {
        return value == Math.rint(value) ? Long.toString((long) value) : String.format(Locale.ROOT, "%.2f", value);
    }

    /** The length of a bar is the logarithm of the count: a million fills it. */
    private static String bar(final long count) {
        return count == 0 ? "" : "#".repeat(Math.clamp(Math.round(Math.log10(count + 1.0) / 6 * BAR), 1, BAR));
    }

    private static void interrupts(final PrintWriter out, final String loop, final CpuJitter cpu) {
        if (!cpu.interrupts().isEmpty()) {
            out.printf("%ninterrupts on CPU %d (%s): %s", cpu.cpu(), loop, cpu.interrupts().entrySet().stream()
                .limit(INTERRUPTS_SHOWN)
                .map(entry -> entry.getKey() + " " + entry.getValue()).collect(Collectors.joining(", ")));
            final int more = cpu.interrupts().size() - INTERRUPTS_SHOWN;
            out.print(more > 0 ? " and " + more + " more" : "");
        }
    }

    String toJson() {
        final ObjectNode root = Json.object();
        Json.describe(root.putObject("machine"), machine);
        root.put("seconds", result.durationNs() / 1e9).put("clockNs", result.clockNs()).put("floorNs", result.floorNs());
        final ArrayNode cpus = root.putArray("cpus");
        for (int i = 0; i < result.java().size(); i++) {
            final ObjectNode cpu = cpus.addObject().put("cpu", result.java().get(i).cpu());
            put(cpu.putObject("java"), result.java().get(i));
            if (!result.c().isEmpty()) {
                put(cpu.putObject("c"), result.c().get(i));
            }
        }
        return Json.text(root);
    }

    private static void put(final ObjectNode node, final CpuJitter cpu) {
        node.put("seconds", cpu.elapsedNs() / 1e9).put("spins", cpu.spins()).put("gaps", cpu.gaps().getTotalCount())
            .put("lostShare", cpu.lostShare());
        final ObjectNode lengths = node.putObject("gapNs");
        for (final double percentile : new double[] {50, 90, 99, 99.9}) {
            lengths.put("p" + trimmedPercentile(percentile),
                cpu.gaps().getTotalCount() == 0 ? 0 : cpu.gaps().getValueAtPercentile(percentile));
        }
        lengths.put("max", cpu.gaps().getMaxValue());
        final ObjectNode over = node.putObject("longerThan");
        THRESHOLDS_NS.forEach(threshold -> over.put(length(threshold), cpu.countOver(threshold)));
        node.put("voluntarySwitches", cpu.voluntarySwitches()).put("involuntarySwitches", cpu.involuntarySwitches())
            .put("stealMs", cpu.stolenNs() / (double) MS);
        final ObjectNode interrupts = node.putObject("interrupts");
        cpu.interrupts().forEach(interrupts::put);
    }

    private static String trimmedPercentile(final double percentile) {
        return percentile == Math.rint(percentile) ? Long.toString((long) percentile) : Double.toString(percentile);
    }
}
