package io.ringpoll.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
