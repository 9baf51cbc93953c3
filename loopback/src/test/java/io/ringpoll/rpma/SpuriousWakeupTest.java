package io.ringpoll.rpma;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Waits whose descriptor is readable although there is no event, as when another thread has taken it: each ends in its time, and
 * leaves no text of librpma to the next exception. The loopback device's descriptors are eventfds, which any thread can write to.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SpuriousWakeupTest {
    private static final int TIMEOUT_MS = 50;

    @BeforeEach
    void requireLoopback() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device's descriptors can be written to");
    }

    @Test
    void shouldWaitForACompletionInItsTime() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            assertTimesOut(queue.fd(), false, queue::await);
        }
    }

    @Test
    void shouldWaitForACompletionOfSharedChannelsInItsTime() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.rcqSize(10).sharedCompletionChannel(true))) {
            final Connection connection = pair.client();
            assertTimesOut(connection.completionFd(), Optional.empty(), connection::awaitCompletions);
        }
    }

    @Test
    void shouldWaitForAConnectionEventInItsTime() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection connection = pair.client();
            assertTimesOut(connection.eventFd(), Optional.empty(), connection::nextEvent);
        }
    }

    @Test
    void shouldWaitForARequestInItsTime() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Endpoint endpoint = peer.listen(TestDevice.address(), "0")) {
            assertTimesOut(endpoint.fd(), Optional.empty(), endpoint::nextRequest);
        }
    }

    private static void assertTimesOut(final int fd, final Object nothing, final IntFunction<?> wait) {
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
