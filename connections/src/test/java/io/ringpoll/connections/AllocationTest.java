package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.testing.TestDevice;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Messages in both directions allocate nothing, with credits returned in answers and by messages of their own. */
@Timeout(120)
@Tag(TestDevice.STEADY_STATE_TAG)
class AllocationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    private static final int WARM_UP = 300_000;
    private static final int MEASURED = 200_000;
    private static final int ROUNDS = 5;

    /** Sends as long as there is credit, and counts the answers. */
    private static final class Flood implements ConnectionListener {
        private final UnsafeBuffer message = new UnsafeBuffer(new byte[32]);
        private volatile long received;

        @Override
        public void onConnected(final MessageConnection connection) {
            onDrained(connection);
        }

        @Override
        public void onDrained(final MessageConnection connection) {
            boolean sent = true;
            while (sent) {
                sent = connection.trySend(message, 0, message.capacity());
            }
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            received++;
            return true;
        }
    }

    /** Answers every second message, and retains every third until the next one. */
    private static final class Answers implements ConnectionListener {
        private long count;
        private long retained;

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            if (retained != 0) {
                connection.release(retained);
                retained = 0;
            }
            if (count % 2 == 0 && !connection.trySend(buffer, offset, length)) {
                return false;
            }
            if (count++ % 3 == 0) {
                retained = connection.retain();
            }
            return true;
        }
    }

    @Test
    void shouldAllocateNothing() throws Exception {
        final Flood flood = new Flood();
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(16), new Answers(), flood)) {
            pair.connect();
            await(flood, WARM_UP);
            final Thread[] threads = {pair.client().pipelines().getFirst().pollerThread(),
                pair.server().pipelines().getFirst().pollerThread()};
            final long[] least = {Long.MAX_VALUE, Long.MAX_VALUE};
            for (int round = 0; round < ROUNDS && least[0] + least[1] != 0; round++) {
                final long[] before = {allocated(threads[0]), allocated(threads[1])};
                await(flood, flood.received + MEASURED);
                for (int i = 0; i < threads.length; i++) {
                    least[i] = Math.min(least[i], allocated(threads[i]) - before[i]);
                }
            }
            assertEquals(0, least[0], "client");
            assertEquals(0, least[1], "server");
        }
    }

    private static long allocated(final Thread thread) {
        return THREADS.getThreadAllocatedBytes(thread.threadId());
    }

    private static void await(final Flood flood, final long count) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (flood.received < count) {
            assertTrue(System.nanoTime() < deadlineNs, "received only " + flood.received);
            Thread.sleep(1);
        }
    }
}
