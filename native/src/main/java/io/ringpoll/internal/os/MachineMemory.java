package io.ringpoll.internal.os;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** The size of the machine's memory. Stateless. */
public final class MachineMemory {
    private static final Path MEMINFO = Path.of("/proc/meminfo");
    private static final String TOTAL = "MemTotal:";
    private static final long KIBIBYTE = 1024;

    private MachineMemory() {
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
