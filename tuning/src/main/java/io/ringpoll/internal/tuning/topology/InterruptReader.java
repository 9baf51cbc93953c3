package io.ringpoll.internal.tuning.topology;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads {@code /proc/interrupts} and each interrupt's affinity.
 *
 * @see <a href="https://www.kernel.org/doc/html/latest/core-api/irq/irq-affinity.html">SMP IRQ affinity</a>
 */
public final class InterruptReader {
    private InterruptReader() {
    }

    /**
     * Reads all interrupts with their affinity.
     *
     * @param files the machine's files
     * @return the interrupts in the kernel's order; none if they cannot be read
     */
    public static List<Interrupt> read(final MachineFiles files) {
        return read(files, true);
    }

    /**
     * Reads the interrupts' names and counts only, for taking differences.
     *
     * @param files the machine's files
     * @return the interrupts in the kernel's order, their CPU sets empty
     */
    public static List<Interrupt> counts(final MachineFiles files) {
        return read(files, false);
    }

    private static List<Interrupt> read(final MachineFiles files, final boolean affinity) {
        final List<String> lines = files.read("proc/interrupts").text().lines().toList();
        if (lines.isEmpty()) {
            return List.of();
        }
        final List<Integer> columns = new ArrayList<>();
        for (final String name : lines.getFirst().strip().split("\\s+")) {
            if (name.matches("CPU\\d{1,5}")) {
                columns.add(Integer.parseInt(name.substring(3)));
            }
        }
        final List<Interrupt> interrupts = new ArrayList<>();
        for (final String line : lines.subList(1, lines.size())) {
            final int colon = line.indexOf(':');
            if (colon > 0 && !line.substring(0, colon).isBlank()) {
                interrupts.add(parse(files, line.substring(0, colon).strip(), line.substring(colon + 1), columns, affinity));
            }
        }
        return interrupts;
    }

    private static Interrupt parse(final MachineFiles files, final String id, final String line, final List<Integer> columns,
                                   final boolean affinity) {
        final Map<Integer, Long> counts = new HashMap<>();
        String rest = line.strip();
        // Some of the kernel's own (ERR, MIS) have one value for all CPUs: their text ends before the columns do.
        for (int column = 0; column < columns.size(); column++) {
            final String[] split = rest.split("\\s+", 2);
            if (!split[0].matches("\\d{1,18}")) {
                break;
            }
            final long count = Long.parseLong(split[0]);
            if (count != 0) {
                counts.put(columns.get(column), count);
            }
            rest = split.length > 1 ? split[1] : "";
        }
        final String[] described = rest.split("\\s{2,}");
        final boolean ofDevice = Character.isDigit(id.charAt(0));
        final String label = ofDevice ? described[described.length - 1] : rest;
        final CpuSet allowed = ofDevice && affinity
            ? files.cpuSet("proc/irq/" + id + "/smp_affinity_list").orElse(CpuSet.EMPTY) : CpuSet.EMPTY;
        final CpuSet effective = ofDevice && affinity
            ? files.cpuSet("proc/irq/" + id + "/effective_affinity_list").filter(set -> !set.isEmpty()).orElse(allowed)
            : CpuSet.EMPTY;
        return new Interrupt(id, label, counts, allowed, effective);
    }
}
