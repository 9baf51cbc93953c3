package io.ringpoll.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * What all processors of the machine have done up to a moment, in ticks of the kernel's clock: who runs outside of a process, as
 * the kernel's own threads for a software device, is seen here alone.
 *
 * @param user       in processes
 * @param kernel     in the kernel, for processes and in its own threads
 * @param interrupts in interrupts and what they leave to be done (softirq)
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_stat.5.html">proc_stat(5)</a>
 */
public record MachineTicks(long user, long kernel, long interrupts) {
    /** A tick is a hundredth of a second for whoever reads it, whatever the kernel's clock is set to (USER_HZ). */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Path STAT = Path.of("/proc/stat");

    /**
     * Looks at this machine.
     *
     * @return its ticks; none where the kernel does not tell
     */
    public static MachineTicks now() {
        try {
            return parse(Files.readString(STAT));
        } catch (final IOException unknown) {
            return new MachineTicks(0, 0, 0);
        }
    }

    static MachineTicks parse(final String stat) {
        // user nice system idle iowait irq softirq: the first line is the sum of all processors.
        final String[] fields = stat.lines().findFirst().orElseThrow().split("\\s+");
        return new MachineTicks(Long.parseLong(fields[1]) + Long.parseLong(fields[2]), Long.parseLong(fields[3]),
            Long.parseLong(fields[6]) + Long.parseLong(fields[7]));
    }

    /**
     * What has been spent since an earlier moment.
     *
     * @param earlier the other moment
     * @return the difference
     */
    public MachineTicks since(final MachineTicks earlier) {
        return new MachineTicks(user - earlier.user, kernel - earlier.kernel, interrupts - earlier.interrupts);
    }

    /**
     * Adds.
     *
     * @param other further ones
     * @return the sum
     */
    public MachineTicks plus(final MachineTicks other) {
        return new MachineTicks(user + other.user, kernel + other.kernel, interrupts + other.interrupts);
    }

    /**
     * A time in ticks.
     *
     * @param ticks how many
     * @return nanoseconds
     */
    public static long ns(final long ticks) {
        return ticks * TICK_NS;
    }
}
