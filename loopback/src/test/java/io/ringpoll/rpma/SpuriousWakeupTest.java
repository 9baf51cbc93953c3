package io.ringpoll.rpma;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A wait whose descriptor is readable without an event, for instance because another thread took the event, ends at its time-out.
 * No log text of librpma from such a wait appears in a later exception. The descriptors of the loopback device are eventfds, to
 * which a test can write, or epoll instances that watch one.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SpuriousWakeupTest {
    private static final int TIMEOUT_MS = 50;

    @BeforeEach
    void requireLoopback() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device's descriptors can be written to");
    }

    @Test
    void shouldWaitForACompletionInItsTime() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            assertTimesOut(queue.fd(), false, queue::await);
        }
    }

    @Test
    void shouldWaitForACompletionOfSharedChannelsInItsTime() throws IOException {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true))) {
            final Connection connection = pair.client();
            assertTimesOut(connection.completionFd(), Optional.empty(), connection::awaitCompletions);
        }
    }

    @Test
    void shouldWaitForAConnectionEventInItsTime() throws IOException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection connection = pair.client();
            assertTimesOut(connection.eventFd(), Optional.empty(), connection::nextEvent);
        }
    }

    @Test
    void shouldWaitForARequestInItsTime() throws IOException {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), "0")) {
            assertTimesOut(endpoint.fd(), Optional.empty(), endpoint::nextRequest);
        }
    }

    /** Returns the eventfd of a descriptor: the descriptor itself, or the eventfd that its epoll instance watches. */
    private static int eventFd(final int fd) throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/self/fdinfo/" + fd))) {
            return lines.filter(line -> line.startsWith("tfd:")).map(line -> line.split("\\s+")[1]).mapToInt(Integer::parseInt)
                .findFirst().orElse(fd);
        }
    }

    private static void assertTimesOut(final int readableFd, final Object nothing, final IntFunction<?> wait) throws IOException {
        final int fd = eventFd(readableFd);
        final CallState state = CallState.current();
        final long counter = state.scratch();
        state.longAt(0, 1);
        assertEquals(Long.BYTES, POSIX.write(fd, counter, Long.BYTES));
        try {
            assertEquals(nothing, wait.apply(0));
            assertEquals("", LogSink.takeErrorText());
            final long startNs = System.nanoTime();
            assertEquals(nothing, wait.apply(TIMEOUT_MS));
            final long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs);
            assertTrue(tookMs >= TIMEOUT_MS - 1, tookMs + " ms");
            assertEquals("", LogSink.takeErrorText());
        } finally {
            POSIX.read(fd, state.scratch(), Long.BYTES);
        }
        assertEquals(nothing, wait.apply(0));
    }
}
