package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.Errno;
import io.ringpoll.os.OsException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.BitSet;
import java.util.OptionalInt;

/**
 * From which NUMA nodes the kernel takes the memory that the calling thread touches first, as {@code numactl --membind} sets
 * it. For platform threads.
 *
 * <p>A policy belongs to a thread. Threads and processes that it starts afterwards inherit it; threads that run already (the
 * JVM's own among them) keep theirs, and memory that has been touched stays where it is.
 *
 * @see <a href="https://man7.org/linux/man-pages/man2/set_mempolicy.2.html">set_mempolicy(2)</a>
 * @see <a href="https://man7.org/linux/man-pages/man2/get_mempolicy.2.html">get_mempolicy(2)</a>
 * @see <a href="https://man7.org/linux/man-pages/man7/numa.7.html">numa(7)</a>
 */
public final class MemoryPolicy {
    /** As many as Linux can be built for. */
    private static final int MAX_NODES = 1024;
    /** The kernel uses one bit less than the given number. */
    private static final int MASK_BITS = MAX_NODES + 1;
    private static final int MPOL_DEFAULT = 0;
    private static final int MPOL_BIND = 2;
    private static final int MPOL_F_NODE = 1;
    private static final int MPOL_F_ADDR = 2;

    private MemoryPolicy() {
    }

    /**
     * Restricts memory allocation of the calling thread to one node.
     *
     * @param node its number as Linux counts them, from 0
     * @throws IllegalArgumentException if there can be no node of that number
     * @throws OsException              if the kernel refuses; the message names the node and the reason: there is no such node,
     *                                  or the process's cpuset has none of its memory (EINVAL), the kernel has no NUMA
     *                                  (ENOSYS), a container forbids it (EPERM)
     */
    public static void bind(final int node) {
        if (node < 0 || node >= MAX_NODES) {
            throw new IllegalArgumentException("NUMA node " + node + " is not in 0.." + (MAX_NODES - 1));
        }
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment mask = mask(arena);
            mask.setAtIndex(ValueLayout.JAVA_LONG, node / Long.SIZE, 1L << node % Long.SIZE);
            if (POSIX.set_mempolicy(MPOL_BIND, mask.address(), MASK_BITS) != 0) {
                throw refused(node, CallState.current().errno());
            }
        }
    }

    /**
     * Goes back to the kernel's own policy: the node of the CPU on which memory is touched first.
     *
     * @throws OsException if the kernel refuses
     */
    public static void reset() {
        if (POSIX.set_mempolicy(MPOL_DEFAULT, 0, 0) != 0) {
            throw new OsException("set_mempolicy", CallState.current().errno());
        }
    }

    /**
     * The nodes that the calling thread is bound to.
     *
     * @return their numbers, a new set; empty if it is not bound
     * @throws OsException if the system call fails
     */
    public static BitSet boundTo() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment mode = arena.allocate(ValueLayout.JAVA_INT);
            final MemorySegment mask = mask(arena);
            if (POSIX.get_mempolicy(mode.address(), mask.address(), MASK_BITS, 0, 0) != 0) {
                throw new OsException("get_mempolicy", CallState.current().errno());
            }
            return mode.get(ValueLayout.JAVA_INT, 0) == MPOL_BIND ?
                BitSet.valueOf(mask.toArray(ValueLayout.JAVA_LONG)) : new BitSet();
        }
    }

    /**
     * The node on which the first page of some memory lies.
     *
     * @param memory native memory; if it has not been touched, this does it
     * @return the node's number; nothing if nothing is mapped there
     * @throws OsException if the system call fails
     */
    public static OptionalInt nodeOf(final MemorySegment memory) {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment node = arena.allocate(ValueLayout.JAVA_INT);
            if (POSIX.get_mempolicy(node.address(), 0, 0, memory.address(), MPOL_F_NODE | MPOL_F_ADDR) == 0) {
                return OptionalInt.of(node.get(ValueLayout.JAVA_INT, 0));
            }
            if (CallState.current().errno() == Errno.EFAULT) {
                return OptionalInt.empty();
            }
            throw new OsException("get_mempolicy", CallState.current().errno());
        }
    }

    private static MemorySegment mask(final Arena arena) {
        return arena.allocate(MAX_NODES / Byte.SIZE, Long.BYTES);
    }

    private static OsException refused(final int node, final int errno) {
        final String reason = switch (errno) {
            case Errno.ENOSYS -> "this kernel has no NUMA (ENOSYS)";
            case Errno.EINVAL -> "there is no such node, or none of its memory is allowed to this process (EINVAL)";
            case Errno.EPERM -> "not permitted; a container needs the capability SYS_NICE (EPERM)";
            default -> Errno.describe(errno);
        };
        return new OsException("set_mempolicy", errno, "cannot bind memory to NUMA node " + node + ": " + reason);
    }
}
