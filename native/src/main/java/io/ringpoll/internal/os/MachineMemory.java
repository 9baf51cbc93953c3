package io.ringpoll.internal.os;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The size of the machine's memory, and of the part that this process may use. Stateless. */
public final class MachineMemory {
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final String TOTAL = "MemTotal:";
    private static final long KIBIBYTE = 1024;
    /** Smaller regions are not compared with the machine's memory. */
    private static final long LARGE_BYTES = 1L << 28;

    private MachineMemory() {
    }

    /**
     * The largest amount of memory that this process can use.
     *
     * @param bytes size
     * @param name  of the source of the limit
     */
    public record Limit(long bytes, String name) {
        static final String OF_MACHINE = "memory of this machine";
        static final String OF_GROUP = "memory limit of this process's control group (memory.max or memory.limit_in_bytes)";
    }

    /**
     * The limit that applies: that of the control group, as of a container, or the machine's memory.
     *
     * @return the smaller one
     * @see <a href="https://man7.org/linux/man-pages/man7/cgroups.7.html">cgroups(7)</a>
     */
    public static Limit limit() {
        // The JVM reads the limits of control groups of both versions, also of the groups above.
        return limit(totalBytes(), ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class).getTotalMemorySize());
    }

    /**
     * Refuses a size that cannot be pinned: the memory of the machine or the limit of a container. To try would end in the
     * kernel's OOM killer.
     *
     * @param lengthBytes of a memory region
     * @throws IllegalArgumentException if it is larger than the limit
     */
    public static void requirePinnable(final long lengthBytes) {
        if (lengthBytes >= LARGE_BYTES) {
            final Limit limit = limit();
            if (lengthBytes > limit.bytes()) {
                throw new IllegalArgumentException("a memory region of " + lengthBytes + " bytes is larger than the " +
                    limit.name() + ", " + limit.bytes() + " bytes, in which it is pinned: ask for less");
            }
        }
    }

    static Limit limit(final long machineBytes, final long groupBytes) {
        return groupBytes > 0 && groupBytes < machineBytes ? new Limit(groupBytes, Limit.OF_GROUP) :
            new Limit(machineBytes, Limit.OF_MACHINE);
    }

    /**
     * Reads the size of the memory.
     *
     * @return bytes; {@link Long#MAX_VALUE} if it cannot be read
     * @see <a href="https://man7.org/linux/man-pages/man5/proc_meminfo.5.html">proc_meminfo(5)</a>
     */
    public static long totalBytes() {
        try {
            return totalBytes(Files.readAllLines(MEMINFO));
        } catch (final IOException unreadable) {
            return Long.MAX_VALUE;
        }
    }

    static long totalBytes(final List<String> meminfo) {
        for (final String line : meminfo) {
            if (line.startsWith(TOTAL)) {
                final String kibibytes = line.substring(TOTAL.length()).replace("kB", "").strip();
                return kibibytes.chars().allMatch(Character::isDigit) && !kibibytes.isEmpty() ?
                    Long.parseLong(kibibytes) * KIBIBYTE : Long.MAX_VALUE;
            }
        }
        return Long.MAX_VALUE;
    }
}
