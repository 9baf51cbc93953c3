package io.ringpoll.bench.jitter;

import io.ringpoll.internal.tuning.topology.Interrupt;
import io.ringpoll.internal.tuning.topology.InterruptReader;
import io.ringpoll.internal.tuning.topology.MachineFiles;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The counters of the kernel for each CPU at one moment: interrupts by name, and steal time.
 *
 * @param interrupts the lines of {@code /proc/interrupts}
 * @param stolenNs   steal time by CPU
 */
record CpuCounters(List<Interrupt> interrupts, Map<Integer, Long> stolenNs) {
    /** The kernel reports times to user space in hundredths of a second, independent of its own tick. */
    private static final long NS_PER_TICK = 10_000_000L;
    private static final int STEAL_FIELD = 8;

    static CpuCounters read(final MachineFiles files) {
        final Map<Integer, Long> stolen = new HashMap<>();
        files.text("proc/stat").stream().flatMap(String::lines).filter(line -> line.matches("cpu\\d{1,5} .*")).forEach(line -> {
            final String[] fields = line.split("\\s+");
            if (fields.length > STEAL_FIELD && fields[STEAL_FIELD].matches("\\d{1,15}")) {
                stolen.put(Integer.parseInt(fields[0].substring(3)), Long.parseLong(fields[STEAL_FIELD]) * NS_PER_TICK);
            }
        });
        return new CpuCounters(InterruptReader.counts(files), stolen);
    }

    /** The interrupts that a CPU has served since an earlier reading, most frequent first. */
    Map<String, Long> interruptsSince(final CpuCounters earlier, final int cpu) {
        final Map<String, Long> before = new HashMap<>();
        earlier.interrupts.forEach(interrupt -> before.put(interrupt.id(), interrupt.count(cpu)));
        final Map<String, Long> since = new HashMap<>();
        for (final Interrupt interrupt : interrupts) {
            final long count = interrupt.count(cpu) - before.getOrDefault(interrupt.id(), 0L);
            if (count > 0) {
                since.merge(interrupt.ofDevice() ? interrupt.label() + " (" + interrupt.id() + ")" : interrupt.label(), count,
                    Long::sum);
            }
        }
        return sorted(since);
    }

    long stolenSince(final CpuCounters earlier, final int cpu) {
        return Math.max(0, stolenNs.getOrDefault(cpu, 0L) - earlier.stolenNs.getOrDefault(cpu, 0L));
    }

    static Map<String, Long> sorted(final Map<String, Long> counts) {
        final Map<String, Long> sorted = new LinkedHashMap<>();
        counts.entrySet().stream()
            .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder()).thenComparing(Map.Entry.comparingByKey()))
            .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
        return sorted;
    }
}
