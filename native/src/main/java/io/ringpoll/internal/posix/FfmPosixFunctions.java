package io.ringpoll.internal.posix;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.FunctionDescriptor;
import java.lang.invoke.MethodHandle;

/** The C library's functions by downcalls; all of them plain, since some wait. */
public final class FfmPosixFunctions implements PosixFunctions {
    /** The only instance. */
    public static final PosixFunctions POSIX = new FfmPosixFunctions();

    private static final NativeLibrary C = NativeLibrary.c();
    private static final MethodHandle poll$mh =
        C.plain("poll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle poll_errno$mh =
        C.capturing("poll", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle open$mh =
        C.capturingVariadic("open", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_INT), 2);
    private static final MethodHandle fcntl$mh =
        C.capturingVariadic("fcntl", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG), 2);
    private static final MethodHandle eventfd$mh =
        C.capturing("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle read$mh =
        C.plain("read", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle write$mh =
        C.plain("write", FunctionDescriptor.of(JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle close$mh =
        C.capturing("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle geteuid$mh = C.plain("geteuid", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle sched_setaffinity$mh =
        C.capturing("sched_setaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle sched_getaffinity$mh =
        C.capturing("sched_getaffinity", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle sched_getcpu$mh =
        C.capturing("sched_getcpu", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle mmap$mh = C.capturing(
        "mmap", FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_INT, JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle munmap$mh =
        C.capturing("munmap", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle madvise$mh =
        C.capturing("madvise", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT));
    private static final MethodHandle mlock$mh =
        C.capturing("mlock", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle munlock$mh =
        C.capturing("munlock", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, JAVA_LONG));
    private static final MethodHandle mlockall$mh =
        C.capturing("mlockall", FunctionDescriptor.of(JAVA_INT, JAVA_INT));
    private static final MethodHandle munlockall$mh =
        C.capturing("munlockall", FunctionDescriptor.of(JAVA_INT));
    private static final MethodHandle syscall$mh = C.capturingVariadic("syscall",
        FunctionDescriptor.of(JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG, JAVA_LONG), 1);
    private static final MethodHandle strerrorname_np$mh =
        C.plain("strerrorname_np", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));
    private static final MethodHandle strerror$mh =
        C.plain("strerror", FunctionDescriptor.of(JAVA_LONG, JAVA_INT));

    private FfmPosixFunctions() {
    }

    @Override
    public int poll(final long fds, final long nfds, final int timeoutMs) {
        try {
            return (int) poll$mh.invokeExact(fds, nfds, timeoutMs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int poll_errno(final long fds, final long nfds, final int timeoutMs) {
        try {
            return (int) poll_errno$mh.invokeExact(CallState.current().errnoSegment(), fds, nfds, timeoutMs);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int open(final long path, final int flags) {
        try {
            return (int) open$mh.invokeExact(CallState.current().errnoSegment(), path, flags);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int fcntl(final int fd, final int command, final long argument) {
        try {
            return (int) fcntl$mh.invokeExact(CallState.current().errnoSegment(), fd, command, argument);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int eventfd(final int initial, final int flags) {
        try {
            return (int) eventfd$mh.invokeExact(CallState.current().errnoSegment(), initial, flags);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long read(final int fd, final long buffer, final long count) {
        try {
            return (long) read$mh.invokeExact(fd, buffer, count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long write(final int fd, final long buffer, final long count) {
        try {
            return (long) write$mh.invokeExact(fd, buffer, count);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int close(final int fd) {
        try {
            return (int) close$mh.invokeExact(CallState.current().errnoSegment(), fd);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int geteuid() {
        try {
            return (int) geteuid$mh.invokeExact();
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int sched_setaffinity(final int pid, final long cpusetSize, final long mask) {
        try {
            return (int) sched_setaffinity$mh.invokeExact(CallState.current().errnoSegment(), pid, cpusetSize, mask);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int sched_getaffinity(final int pid, final long cpusetSize, final long mask) {
        try {
            return (int) sched_getaffinity$mh.invokeExact(CallState.current().errnoSegment(), pid, cpusetSize, mask);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int sched_getcpu() {
        try {
            return (int) sched_getcpu$mh.invokeExact(CallState.current().errnoSegment());
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long mmap(
        final long address, final long lengthBytes, final int protection, final int flags, final int fd, final long offset) {
        try {
            return (long) mmap$mh.invokeExact(
                CallState.current().errnoSegment(), address, lengthBytes, protection, flags, fd, offset);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int munmap(final long address, final long lengthBytes) {
        try {
            return (int) munmap$mh.invokeExact(CallState.current().errnoSegment(), address, lengthBytes);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int madvise(final long address, final long lengthBytes, final int advice) {
        try {
            return (int) madvise$mh.invokeExact(CallState.current().errnoSegment(), address, lengthBytes, advice);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int mlock(final long address, final long lengthBytes) {
        try {
            return (int) mlock$mh.invokeExact(CallState.current().errnoSegment(), address, lengthBytes);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int munlock(final long address, final long lengthBytes) {
        try {
            return (int) munlock$mh.invokeExact(CallState.current().errnoSegment(), address, lengthBytes);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int mlockall(final int flags) {
        try {
            return (int) mlockall$mh.invokeExact(CallState.current().errnoSegment(), flags);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public int munlockall() {
        try {
            return (int) munlockall$mh.invokeExact(CallState.current().errnoSegment());
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long set_mempolicy(final int mode, final long nodeMask, final long maxNode) {
        return syscall(SystemCall.SET_MEMPOLICY, mode, nodeMask, maxNode, 0, 0);
    }

    @Override
    public long get_mempolicy(
        final long mode, final long nodeMask, final long maxNode, final long address, final long flags) {
        return syscall(SystemCall.GET_MEMPOLICY, mode, nodeMask, maxNode, address, flags);
    }

    @Override
    public long strerrorname_np(final int errno) {
        try {
            return (long) strerrorname_np$mh.invokeExact(errno);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public long strerror(final int errno) {
        try {
            return (long) strerror$mh.invokeExact(errno);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    private static long syscall(
        final long number, final long first, final long second, final long third, final long fourth, final long fifth) {
        try {
            return (long) syscall$mh.invokeExact(
                CallState.current().errnoSegment(), number, first, second, third, fourth, fifth);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }
}
