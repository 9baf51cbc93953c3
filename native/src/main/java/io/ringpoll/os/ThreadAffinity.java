package io.ringpoll.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.JvmFlags;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;

/**
 * The CPU affinity of the calling thread. For platform threads: a virtual thread would move its carrier. Each method throws an
 * {@link IllegalStateException} with the missing flag if the JVM lacks one.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html">sched_setaffinity(2)</a>
 * @see <a href="https://man7.org/linux/man-pages/man3/sched_getcpu.3.html">sched_getcpu(3)</a>
 */
public final class ThreadAffinity {
    /** Maximum number of CPUs in a mask: 65,536, eight times the maximum of Linux. */
    private static final int MAX_CPUS = 1 << 16;
    private static final int MAX_MASK_BYTES = MAX_CPUS / Byte.SIZE;
    private static final int INITIAL_MASK_BYTES = 128;
    private static final int CALLING_THREAD = 0;

    private ThreadAffinity() {
    }

    /**
     * Pins the calling thread to one CPU.
     *
     * @param cpu number of the CPU as Linux counts them, from 0
     * @throws IllegalArgumentException if there can be no CPU of that number
     * @throws OsException              if the kernel refuses; the message names the CPU and the reason
     */
    public static void pin(final int cpu) {
        if (cpu < 0 || cpu >= MAX_CPUS) {
            throw new IllegalArgumentException("CPU " + cpu + " is not in 0.." + (MAX_CPUS - 1));
        }
        final BitSet one = new BitSet();
        one.set(cpu);
        set(one);
    }

    /**
     * Sets the CPUs that the calling thread may run on.
     *
     * @param cpus their numbers, at least one
     * @throws IllegalArgumentException if the set is empty
     * @throws OsException              if the kernel refuses; the message names the CPUs and the reason
     */
    public static void set(final BitSet cpus) {
        if (cpus.isEmpty() || cpus.length() > MAX_CPUS) {
            throw new IllegalArgumentException("a thread needs at least one CPU in 0.." + (MAX_CPUS - 1) + ", not " + cpus);
        }
        JvmFlags.require(IllegalStateException::new);
        try (Arena arena = Arena.ofConfined()) {
            final int words = Math.max(INITIAL_MASK_BYTES / Long.BYTES, (cpus.length() + Long.SIZE - 1) / Long.SIZE);
            final MemorySegment mask = arena.allocate((long) words * Long.BYTES, Long.BYTES);
            final long[] bits = cpus.toLongArray();
            MemorySegment.copy(bits, 0, mask, ValueLayout.JAVA_LONG, 0, bits.length);
            if (POSIX.sched_setaffinity(CALLING_THREAD, mask.byteSize(), mask.address()) != 0) {
                throw refused(cpus);
            }
        }
    }

    /**
     * The CPUs that the calling thread may run on.
     *
     * @return their numbers, a new set
     * @throws OsException if the system call fails
     */
    public static BitSet get() {
        JvmFlags.require(IllegalStateException::new);
        try (Arena arena = Arena.ofConfined()) {
            for (int bytes = INITIAL_MASK_BYTES; bytes <= MAX_MASK_BYTES; bytes *= 2) {
                final MemorySegment mask = arena.allocate(bytes, Long.BYTES);
                if (POSIX.sched_getaffinity(CALLING_THREAD, bytes, mask.address()) >= 0) {
                    return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG));
                }
                if (CallState.current().errno() != Errno.EINVAL) {
                    break;
                }
            }
            throw OsException.of("sched_getaffinity");
        }
    }

    /**
     * The CPU that the calling thread runs on at this moment.
     *
     * @return its number, from 0
     * @throws OsException if the system call fails
     */
    public static int currentCpu() {
        JvmFlags.require(IllegalStateException::new);
        final int cpu = POSIX.sched_getcpu();
        if (cpu < 0) {
            throw OsException.of("sched_getcpu");
        }
        return cpu;
    }

    private static OsException refused(final BitSet cpus) {
        final int errno = CallState.current().errno();
        final String which = (cpus.cardinality() == 1 ? "CPU " : "CPUs ") + cpus.toString().replaceAll("[{}]", "");
        final String reason = errno == Errno.EINVAL ?
            "not online, or outside the process's cpuset; allowed are " + get() : Errno.describe(errno);
        return new OsException("sched_setaffinity", errno, "cannot pin the thread to " + which + ": " + reason);
    }
}
