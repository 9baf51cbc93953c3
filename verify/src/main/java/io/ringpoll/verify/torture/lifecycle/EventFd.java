package io.ringpoll.verify.torture.lifecycle;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.ringpoll.internal.ffm.NativeLibrary;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/**
 * An eventfd(2), as the completion channel of scripted queues.
 *
 * <p>Any thread may signal and take; must not be closed during a call.
 */
final class EventFd implements AutoCloseable {
    private static final int NONBLOCK_CLOEXEC = 0x800 | 0x80000;
    private static final NativeLibrary C = NativeLibrary.c();
    private static final MethodHandle eventfd$mh = C.plain("eventfd", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_INT));
    private static final MethodHandle eventfd_write$mh =
        C.plain("eventfd_write", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle eventfd_read$mh =
        C.plain("eventfd_read", FunctionDescriptor.of(JAVA_INT, JAVA_INT, JAVA_LONG));
    private static final MethodHandle close$mh = C.plain("close", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

    private final Arena arena = Arena.ofShared();
    private final MemorySegment value = arena.allocate(ValueLayout.JAVA_LONG);
    private final int fd;

    EventFd() {
        try {
            fd = (int) eventfd$mh.invokeExact(0, NONBLOCK_CLOEXEC);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
        if (fd < 0) {
            arena.close();
            throw new IllegalStateException("no file descriptor left for an eventfd");
        }
    }

    int fd() {
        return fd;
    }

    void signal() {
        try {
            final int ignored = (int) eventfd_write$mh.invokeExact(fd, 1L);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    /** Takes all signals; false if there were none. */
    boolean take() {
        try {
            return (int) eventfd_read$mh.invokeExact(fd, value.address()) == 0;
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
    }

    @Override
    public void close() {
        try {
            final int ignored = (int) close$mh.invokeExact(fd);
        } catch (final Throwable t) {
            throw NativeLibrary.unexpected(t);
        }
        arena.close();
    }
}
