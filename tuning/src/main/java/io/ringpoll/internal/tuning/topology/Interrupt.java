package io.ringpoll.internal.tuning.topology;

import java.util.Map;

/**
 * One line of {@code /proc/interrupts}.
 *
 * @param id        the interrupt's number, or the kernel's short name for an interrupt of its own ({@code LOC}, {@code RES})
 * @param label     the device or purpose
 * @param counts    number served since boot, by CPU
 * @param allowed   the CPUs of its affinity; empty for the kernel's own
 * @param effective the CPUs to which it is sent; as {@code allowed} if the kernel does not export them
 */
public record Interrupt(String id, String label, Map<Integer, Long> counts, CpuSet allowed, CpuSet effective) {
    /** Copies the map. */
    public Interrupt {
        counts = Map.copyOf(counts);
    }

    /**
     * Whether it is a device's interrupt, with a number and an affinity.
     *
     * @return false for the kernel's own
     */
    public boolean ofDevice() {
        return Character.isDigit(id.charAt(0));
    }

    /**
     * Number of interrupts that a CPU has served since boot.
     *
     * @param cpu the CPU
     * @return the count
     */
    public long count(final int cpu) {
        return counts.getOrDefault(cpu, 0L);
    }
}
