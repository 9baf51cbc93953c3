package io.ringpoll.internal.posix;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.internal.ffm.Memory;
import io.ringpoll.os.Errno;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The C library's functions return the results of C and keep errno. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class FfmPosixFunctionsTest {
    private static final int EBADF = 9;
    private static final int NO_DESCRIPTOR = -1;
    private static final long PAGE = 4096;
    private static final long TOO_MANY = 0xFFFF_FFFFL;
    private static final int UNKNOWN_FLAGS = 1 << 20;

    @Test
    void shouldReturnFailuresWithTheirErrno() {
        assertFails(EBADF, () -> POSIX.fcntl(NO_DESCRIPTOR, 3, 0));
        assertFails(EBADF, () -> POSIX.close(NO_DESCRIPTOR));
        assertFails(Errno.EINVAL, () -> POSIX.eventfd(0, UNKNOWN_FLAGS));
        assertFails(Errno.EINVAL, () -> POSIX.poll_errno(0, TOO_MANY, 0));
        assertFails(Errno.EINVAL, () -> POSIX.sched_setaffinity(0, 0, 0));
        assertFails(Errno.EINVAL, () -> POSIX.sched_getaffinity(0, 0, 0));
        assertFails(Errno.EINVAL, () -> POSIX.mmap(0, 0, 0, 0x22, -1, 0));
        assertFails(Errno.ENOMEM, () -> POSIX.munlock(PAGE, PAGE));
        assertFails(Errno.EINVAL, () -> POSIX.mlockall(UNKNOWN_FLAGS));
        assertEquals(-1, POSIX.mlock(PAGE, PAGE));
        assertEquals(-1, POSIX.poll(0, TOO_MANY, 0));
        final long buffer = CallState.current().scratch();
        assertEquals(-1, POSIX.read(NO_DESCRIPTOR, buffer, 1));
        assertEquals(-1, POSIX.write(NO_DESCRIPTOR, buffer, 1));
        assertEquals(-1, POSIX.set_mempolicy(99, 0, 0));
        assertEquals(-1, POSIX.get_mempolicy(0, 0, 0, 0, UNKNOWN_FLAGS));
    }

    @Test
    void shouldReturnResults() {
        final int fd = POSIX.eventfd(7, 0x800);
        assertTrue(fd > 2, fd + " is taken");
        final long buffer = CallState.current().scratch();
        assertEquals(Long.BYTES, POSIX.read(fd, buffer, Long.BYTES));
        assertEquals(7, CallState.current().longAt(0));
        assertEquals(Long.BYTES, POSIX.write(fd, buffer, Long.BYTES));
        assertEquals(0, POSIX.close(fd));
        assertEquals("EINVAL", Memory.stringAt(POSIX.strerrorname_np(Errno.EINVAL)));
        assertEquals("Invalid argument", Memory.stringAt(POSIX.strerror(Errno.EINVAL)));
        assertEquals(0, POSIX.strerrorname_np(99_999));
        assertTrue(POSIX.sched_getcpu() >= 0);
    }

    private static void assertFails(final int errno, final LongSupplier call) {
        assertEquals(-1, call.getAsLong());
        assertEquals(errno, CallState.current().errno());
    }
}
