package io.ringpoll.tuning.topology;

import java.util.Map;

/**
 * One line of {@code /proc/interrupts}.
 *
 * @param id        the interrupt's number, or the kernel's short name for one of its own ({@code LOC}, {@code RES})
 * @param label     who asked for it, or what the kernel's own is for
 * @param counts    how often each CPU, by its number, has served it since boot
 * @param allowed   the CPUs it may be sent to; empty for the kernel's own
 * @param effective the CPUs it is sent to; as {@code allowed} where the kernel does not say
 */
public record Interrupt(String id, String label, Map<Integer, Long> counts, CpuSet allowed, CpuSet effective) {
    /** Copies the map. */
    public Interrupt {
        counts = Map.copyOf(counts);
    }

    /**
     * Whether it is a device's, with a number, and so can have an affinity.
     *
     * @return false for the kernel's own
     */
    public boolean ofDevice() {
        return Character.isDigit(id.charAt(0));
    }

    /**
     * How often a CPU has served it since boot.
     *
     * @param cpu the CPU
     * @return the count
     */
    public long count(final int cpu) {
        return counts.getOrDefault(cpu, 0L);
    }
}
