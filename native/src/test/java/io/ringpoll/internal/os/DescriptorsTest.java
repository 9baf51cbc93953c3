package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.DescriptorPoll;
import io.ringpoll.os.Errno;
import io.ringpoll.os.OsException;
import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.OtherThread;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Waits on file descriptors: one with a wake-up, many at a time, and errors by name. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DescriptorsTest {
    private static final int TIMEOUT_MS = 10_000;
    private static final int EBADF = 9;
    private static final int F_GETFL = 3;
    private static final int O_NONBLOCK = 0x800;
    /** Above the limit of open files of a process. */
    private static final int NO_DESCRIPTOR = 1 << 30;

    private final List<Integer> fds = new ArrayList<>();

    @AfterEach
    void closeDescriptors() {
        fds.forEach(POSIX::close);
    }

    @Test
    void shouldDistinguishReadableTimedOutAndSignalled() {
        final int fd = eventFd();
        final Wakeup wakeup = Wakeup.take();
        assertEquals(Wakeup.TIMED_OUT, wakeup.await(fd, 0));
        assertEquals(Wakeup.TIMED_OUT, wakeup.await(fd, 10));
        write(fd);
        assertEquals(Wakeup.READABLE, wakeup.await(fd, TIMEOUT_MS));
        wakeup.signal();
        assertEquals(Wakeup.SIGNALLED, wakeup.await(fd, TIMEOUT_MS), "a signal goes before data");
        wakeup.release();
        final Wakeup again = Wakeup.take();
        assertSame(wakeup, again);
        assertEquals(Wakeup.READABLE, again.await(fd, TIMEOUT_MS), "a signal does not outlive its wait");
        again.release();
    }

    @Test
    void shouldReportAClosedDescriptor() {
        final Wakeup wakeup = Wakeup.take();
        assertEquals(Wakeup.BROKEN, wakeup.await(NO_DESCRIPTOR, TIMEOUT_MS));
        wakeup.release();
    }

    @Test
    void shouldEndAWaitByASignalOfAnotherThread() {
        final int fd = eventFd();
        final Wakeup wakeup = Wakeup.take();
        final OtherThread<Integer> waiting = OtherThread.run(() -> wakeup.await(fd, -1));
        waiting.requireWaiting();
        wakeup.signal();
        assertEquals(Wakeup.SIGNALLED, waiting.result());
        wakeup.release();
    }

    @Test
    void shouldRunTheActionsOfAllDescriptorsThatAreReadable() {
        final List<String> ran = new ArrayList<>();
        try (DescriptorPoll poll = new DescriptorPoll()) {
            final int[] many = new int[40];
            for (int i = 0; i < many.length; i++) {
                final int index = i;
                many[i] = eventFd();
                poll.add(many[i], () -> ran.add("fd " + index));
            }
            assertEquals(0, poll.await(0));
            write(many[3]);
            write(many[39]);
            assertEquals(2, poll.await(TIMEOUT_MS));
            assertEquals(List.of("fd 3", "fd 39"), ran);
            poll.remove(many[3]);
            assertEquals(1, poll.await(TIMEOUT_MS));
            poll.remove(many[39]);
            poll.remove(many[39]);
            assertEquals(0, poll.await(5));
        }
    }

    @Test
    void shouldLetActionsChangeTheDescriptors() {
        final int first = eventFd();
        final int second = eventFd();
        final List<String> ran = new ArrayList<>();
        try (DescriptorPoll poll = new DescriptorPoll()) {
            poll.add(first, () -> {
                poll.remove(first);
                poll.add(second, () -> ran.add("second"));
            });
            write(first);
            write(second);
            assertEquals(1, poll.await(TIMEOUT_MS));
            assertEquals(1, poll.await(TIMEOUT_MS));
            assertEquals(List.of("second"), ran);
        }
    }

    @Test
    void shouldEndAWaitOnManyByAWakeUp() {
        final DescriptorPoll poll = new DescriptorPoll();
        final OtherThread<Integer> waiting = OtherThread.run(() -> poll.await(-1));
        waiting.requireWaiting();
        poll.wakeUp();
        assertEquals(0, waiting.result());
        assertEquals(0, poll.await(1));
        poll.close();
        poll.close();
        assertThrows(IllegalStateException.class, () -> poll.await(0));
    }

    @Test
    void shouldAllocateNothingWhileTheDescriptorsStayTheSame() {
        final int fd = eventFd();
        try (DescriptorPoll poll = new DescriptorPoll()) {
            poll.add(fd, () -> { });
            write(fd);
            Allocation.assertNone(() -> poll.await(0));
        }
    }

    @Test
    void shouldChangeWhetherADescriptorBlocksAndNothingElse() {
        final int fd = eventFd();
        final int before = POSIX.fcntl(fd, F_GETFL, 0);
        assertEquals(0, before & O_NONBLOCK);
        FileDescriptors.setNonBlocking(fd);
        assertEquals(before | O_NONBLOCK, POSIX.fcntl(fd, F_GETFL, 0));
        FileDescriptors.setNonBlocking(fd, false);
        assertEquals(before, POSIX.fcntl(fd, F_GETFL, 0));
    }

    @Test
    void shouldNameErrors() {
        assertEquals("ENOMEM", Errno.name(Errno.ENOMEM));
        assertEquals("ENOMEM (12): Cannot allocate memory", Errno.describe(Errno.ENOMEM));
        assertEquals("errno 99999", Errno.name(99_999));
        final OsException error = assertThrows(OsException.class, () -> FileDescriptors.setNonBlocking(99_999));
        assertEquals(EBADF, error.errno());
        assertTrue(error.getMessage().startsWith("fcntl(99999) failed: EBADF (9)"), error::getMessage);
    }

    private int eventFd() {
        final int fd = POSIX.eventfd(0, 0);
        assertTrue(fd >= 0);
        fds.add(fd);
        return fd;
    }

    private static void write(final int fd) {
        final CallState state = CallState.current();
        final long one = state.scratch();
        state.longAt(0, 1);
        assertEquals(Long.BYTES, POSIX.write(fd, one, Long.BYTES));
    }
}
