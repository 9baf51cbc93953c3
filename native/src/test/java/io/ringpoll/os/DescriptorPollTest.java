package io.ringpoll.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.OtherThread;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** A wait on many descriptors at the limit of its list and after its close. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class DescriptorPollTest {
    /** With the wake-up descriptor, the initial capacity. */
    private static final int FIRST_ROOM = 15;

    private final List<Integer> fds = new ArrayList<>();
    private final List<Integer> ran = new ArrayList<>();

    @AfterEach
    void closeDescriptors() {
        fds.forEach(POSIX::close);
    }

    /** A descriptor that is readable from the beginning. */
    private int readable() {
        final int fd = POSIX.eventfd(1, 0);
        assertTrue(fd >= 0);
        fds.add(fd);
        return fd;
    }

    /** An action that is missing would fail in each wait to come. */
    @Test
    void shouldRefuseADescriptorThatIsNoneAndAMissingAction() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            final int ready = readable();
            assertEquals("the action is null",
                assertThrows(NullPointerException.class, () -> poll.add(ready, null)).getMessage());
            assertEquals("descriptor -1 is negative: it would never be ready",
                assertThrows(IllegalArgumentException.class, () -> poll.add(-1, () -> ran.add(-1))).getMessage());
            assertEquals(0, poll.await(0));
        }
    }

    @Test
    void shouldTakeNoNoticeOfADescriptorThatIsNotThere() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            final int once = readable();
            poll.add(once, () -> ran.add(once));
            poll.remove(once);
            poll.remove(once);
            for (int i = 0; i < FIRST_ROOM; i++) {
                final int fd = readable();
                poll.add(fd, () -> ran.add(fd));
                poll.remove(once);
            }
            assertEquals(FIRST_ROOM, poll.await(0));
            assertEquals(fds.subList(1, fds.size()), ran);
        }
    }

    @Test
    void shouldKeepAllDescriptorsWhenItNeedsMoreRoom() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            for (int i = 0; i < 5 * FIRST_ROOM; i++) {
                final int fd = readable();
                poll.add(fd, () -> ran.add(fd));
                ran.clear();
                assertEquals(i + 1, poll.await(0));
                assertEquals(fds, ran);
            }
        }
    }

    @Test
    void shouldRunTheActionsOfAllDescriptorsAlthoughOneChangesTheListEachTime() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            final int first = readable();
            final int changing = readable();
            poll.add(first, () -> {
                ran.add(first);
                poll.remove(changing);
                poll.add(changing, () -> { });
            });
            for (int i = 0; i < 3; i++) {
                final int fd = readable();
                poll.add(fd, () -> ran.add(fd));
            }
            for (int i = 0; i < 5; i++) {
                poll.await(0);
            }
            assertTrue(ran.containsAll(fds.subList(2, fds.size())), ran::toString);
        }
    }

    @Test
    void shouldDistinguishAWakeUpFromADescriptorAndFromATimeOut() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            assertFalse(poll.wasWokenUp());
            poll.wakeUp();
            assertEquals(0, poll.await(0));
            assertTrue(poll.wasWokenUp());
            assertEquals(0, poll.await(1));
            assertFalse(poll.wasWokenUp());
            final int fd = readable();
            poll.add(fd, () -> ran.add(fd));
            assertEquals(1, poll.await(0));
            assertFalse(poll.wasWokenUp());
            poll.wakeUp();
            assertEquals(1, poll.await(0));
            assertTrue(poll.wasWokenUp());
        }
    }

    @Test
    void shouldRefuseAllCallsAfterClose() {
        final DescriptorPoll poll = new DescriptorPoll();
        final int fd = readable();
        poll.add(fd, () -> ran.add(fd));
        poll.close();
        assertThrows(IllegalStateException.class, () -> poll.add(fd, () -> { }));
        assertThrows(IllegalStateException.class, () -> poll.remove(fd));
        assertThrows(IllegalStateException.class, () -> poll.await(0));
        // Late, but not an error.
        poll.wakeUp();
        assertEquals(List.of(), ran);
    }

    /** A call that was refused is no use of the closed wait: it keeps no other thread out. */
    @Test
    void shouldRefuseCallsOfAllThreadsAfterCloseForTheSameReason() {
        final DescriptorPoll poll = new DescriptorPoll();
        poll.close();
        assertEquals("the wait is closed", assertThrows(IllegalStateException.class, () -> poll.await(0)).getMessage());
        assertEquals("the wait is closed", assertInstanceOf(IllegalStateException.class,
            assertThrows(AssertionError.class, OtherThread.run(() -> poll.await(0))::result).getCause()).getMessage());
    }

    /** That of the standard input. */
    @Test
    void shouldTakeDescriptor0() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            assertDoesNotThrow(() -> poll.add(0, () -> ran.add(0)));
        }
    }

    /** Otherwise it would never end, and wait for another file with the number of its own descriptor at the next time. */
    @Test
    void shouldEndAWaitOfAnotherThreadWhenItIsClosed() {
        final DescriptorPoll poll = new DescriptorPoll();
        final OtherThread<Integer> waiting = OtherThread.run(() -> poll.await(-1));
        waiting.requireWaiting();
        poll.close();
        assertEquals("the wait is closed", assertInstanceOf(IllegalStateException.class,
            assertThrows(AssertionError.class, waiting::result).getCause()).getMessage());
        poll.close();
    }

    /** The kernel writes to the list during a wait: a longer one would be at another place. */
    @Test
    void shouldRefuseChangesByAnotherThreadDuringAWait() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            final OtherThread<Integer> waiting = OtherThread.run(() -> poll.await(-1));
            waiting.requireWaiting();
            final int fd = readable();
            for (final Executable change : List.<Executable>of(() -> poll.add(fd, () -> { }), () -> poll.remove(fd),
                () -> poll.await(0))) {
                assertEquals("thread other uses this wait: " + Thread.currentThread().getName() +
                    " may only wake it up or close it", assertThrows(IllegalStateException.class, change).getMessage());
            }
            poll.wakeUp();
            assertEquals(0, waiting.result());
            poll.add(fd, () -> ran.add(fd));
            assertEquals(1, poll.await(0));
            assertEquals(List.of(fd), ran);
        }
    }

    @Test
    void shouldEndTheRoundWhenAnActionClosesIt() {
        final DescriptorPoll poll = new DescriptorPoll();
        for (int i = 0; i < 3; i++) {
            final int fd = readable();
            poll.add(fd, () -> {
                ran.add(fd);
                poll.close();
            });
        }
        assertEquals(1, poll.await(0));
        assertEquals(fds.subList(0, 1), ran);
        assertThrows(IllegalStateException.class, () -> poll.await(0));
    }

    @Test
    void shouldRefuseAWaitWithinAnAction() {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            poll.add(readable(), () -> poll.await(0));
            assertEquals("an action of this wait cannot wait itself: it would be called again",
                assertThrows(IllegalStateException.class, () -> poll.await(0)).getMessage());
        }
    }

    @Test
    void shouldLeaveNoDescriptorWhoeverClosesIt() throws IOException {
        final long before = openFiles();
        for (int i = 0; i < 20; i++) {
            final DescriptorPoll poll = new DescriptorPoll();
            final OtherThread<Integer> waiting = OtherThread.run(() -> poll.await(-1));
            if (i % 2 == 0) {
                waiting.requireWaiting();
            }
            poll.close();
            assertInstanceOf(IllegalStateException.class, assertThrows(AssertionError.class, waiting::result).getCause());
        }
        // Nobody waits.
        new DescriptorPoll().close();
        assertEquals(before, openFiles());
    }

    private static long openFiles() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
            return files.filter(DescriptorPollTest::isEvents).count();
        }
    }

    /** Not any file: the JVM opens and closes others. */
    private static boolean isEvents(final Path file) {
        try {
            return Files.readSymbolicLink(file).toString().contains("eventfd");
        } catch (final IOException closed) {
            return false;
        }
    }

    @Test
    void shouldNotBlockTheCarrierOfAVirtualThread() throws Exception {
        try (DescriptorPoll poll = new DescriptorPoll()) {
            final CompletableFuture<Throwable> refusal = new CompletableFuture<>();
            final Thread virtual = Thread.ofVirtual().start(() -> {
                // A poll without a wait.
                poll.await(0);
                refusal.complete(assertThrows(IllegalStateException.class, () -> poll.await(1)));
            });
            assertInstanceOf(IllegalStateException.class, refusal.get(20, TimeUnit.SECONDS));
            virtual.join();
        }
    }
}
