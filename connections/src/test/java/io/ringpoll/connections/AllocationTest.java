package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.TestDevice;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
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

    /** Answers each message, and has two timers for it: one is scheduled again or canceled before its time, one is executed. */
    private static final class Timed implements ConnectionListener {
        private ConnectionTimer timeout;
        private ConnectionTimer tick;
        private int executed;
        private int count;

        @Override
        public void onConnected(final MessageConnection connection) {
            timeout = connection.newTimer(() -> {
                throw new AssertionError("not canceled");
            });
            tick = connection.newTimer(() -> {
                executed++;
                tick.schedule(TimeUnit.MICROSECONDS.toNanos(10));
            });
            tick.schedule(0);
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            timeout.schedule(TimeUnit.HOURS.toNanos(1));
            if (count++ % 3 == 0) {
                timeout.cancel();
            }
            return connection.trySend(buffer, offset, length);
        }
    }

    /** Writes and reads in turn as long as there is room, with a message for each write. */
    private static final class Operations implements ConnectionListener {
        private final UnsafeBuffer message = new UnsafeBuffer(new byte[32]);
        private final LocalMemoryRegion local;
        private final RemoteMemoryRegion remote;
        private long posted;
        private volatile long completed;

        Operations(final LocalMemoryRegion local, final RemoteMemoryRegion remote) {
            this.local = local;
            this.remote = remote;
        }

        @Override
        public void onConnected(final MessageConnection connection) {
            while (post(connection)) {
                posted++;
            }
        }

        private boolean post(final MessageConnection connection) {
            if ((posted & 1) == 0) {
                connection.trySend(message, 0, message.capacity());
                return connection.tryWrite(remote, 0, local, 0, Long.BYTES, posted);
            }
            return connection.tryRead(local, 0, remote, 0, Long.BYTES, posted);
        }

        @Override
        public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
            completed++;
            onConnected(connection);
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            return true;
        }
    }

    @Test
    void shouldAllocateNothing() throws Exception {
        final Flood flood = new Flood();
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(16), new Answers(), flood)) {
            pair.connect();
            assertNothingAllocated(pair, () -> flood.received);
        }
    }

    @Test
    void shouldAllocateNothingForTimers() throws Exception {
        final Flood flood = new Flood();
        final Timed timed = new Timed();
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(16), timed, flood)) {
            pair.connect();
            assertNothingAllocated(pair, () -> flood.received);
            assertEquals(0, pair.server().listenerExceptions());
        }
        assertTrue(timed.executed > 0, "no timer was executed");
    }

    @Test
    void shouldAllocateNothingForOneSidedOperations() throws Exception {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion local = peer.allocate(Long.BYTES, MemoryUsage.WRITE_SOURCE, MemoryUsage.READ_DESTINATION);
            LocalMemoryRegion target = peer.allocate(Long.BYTES, MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE);
            RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(target.descriptor())) {
            final Operations operations = new Operations(local, remote);
            try (SetPair pair = SetPair.of(builder -> builder.address(null).peer(peer).operationsInFlight(16),
                new Operations(local, remote), operations)) {
                pair.connect();
                assertNothingAllocated(pair, () -> operations.completed);
            }
        }
    }

    private static void assertNothingAllocated(final SetPair pair, final LongSupplier count) throws InterruptedException {
        await(count, WARM_UP);
        final Thread[] threads = {pair.client().pipelines().getFirst().pollerThread(),
            pair.server().pipelines().getFirst().pollerThread()};
        final long[] least = {Long.MAX_VALUE, Long.MAX_VALUE};
        for (int round = 0; round < ROUNDS && least[0] + least[1] != 0; round++) {
            final long[] before = {allocated(threads[0]), allocated(threads[1])};
            await(count, count.getAsLong() + MEASURED);
            for (int i = 0; i < threads.length; i++) {
                least[i] = Math.min(least[i], allocated(threads[i]) - before[i]);
            }
        }
        assertEquals(0, least[0], "client");
        assertEquals(0, least[1], "server");
    }

    private static long allocated(final Thread thread) {
        return THREADS.getThreadAllocatedBytes(thread.threadId());
    }

    private static void await(final LongSupplier reached, final long count) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
        while (reached.getAsLong() < count) {
            assertTrue(System.nanoTime() < deadlineNs, () -> "only " + reached.getAsLong());
            Thread.sleep(1);
        }
    }
}
