package io.ringpoll.bench.measure;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * The use of all processors of the machine up to a moment, in ticks of the kernel clock. Only this includes work outside of the
 * process, such as the kernel threads of a software device.
 *
 * @param user       time in processes
 * @param kernel     time in the kernel, for processes and in kernel threads
 * @param interrupts time in interrupts and softirqs
 * @see <a href="https://man7.org/linux/man-pages/man5/proc_stat.5.html">proc_stat(5)</a>
 */
public record MachineTicks(long user, long kernel, long interrupts) {
    /** The tick of user space, a hundredth of a second, independent of the clock of the kernel (USER_HZ). */
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final Path STAT = Path.of("/proc/stat");

    /**
     * Reads the ticks of this machine.
     *
     * @return its ticks; 0 if the kernel does not report them
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
     * The difference to an earlier moment.
     *
     * @param earlier the other moment
     * @return the difference
     */
    public MachineTicks since(final MachineTicks earlier) {
        return new MachineTicks(user - earlier.user, kernel - earlier.kernel, interrupts - earlier.interrupts);
    }

    /**
     * Adds ticks.
     *
     * @param other further ticks
     * @return the sum
     */
    public MachineTicks plus(final MachineTicks other) {
        return new MachineTicks(user + other.user, kernel + other.kernel, interrupts + other.interrupts);
    }

    /**
     * A time in ticks.
     *
     * @param ticks number of ticks
     * @return nanoseconds
     */
    public static long ns(final long ticks) {
        return ticks * TICK_NS;
    }
}
