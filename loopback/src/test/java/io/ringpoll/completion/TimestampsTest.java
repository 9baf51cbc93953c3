package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.device.Device;
import io.ringpoll.internal.binding.Libraries;
import io.ringpoll.internal.device.DeviceLibraries;
import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.os.Errno;
import io.ringpoll.rpma.Peer;
import io.ringpoll.synthetic.SyntheticSource;
import io.ringpoll.testing.CCompiler;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.JavaProcess;
import io.ringpoll.testing.TestDevice;
import java.io.PrintStream;
import java.lang.foreign.SymbolLookup;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Queues with timestamps: the time and the record of each completion; the refusal of a device without the capability. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TimestampsTest {
    private static final int MESSAGES = 500;
    private static final int IO_ERROR = 5;
    /** Wall-clock time may be stepped by a small correction, and both clocks are not read at the same moment. */
    private static final long WALL_TOLERANCE_NS = TimeUnit.MILLISECONDS.toNanos(5);
    /** Uncertainty of a comparison of two clocks by a thread that may lose its processor, and drift until the next one. */
    private static final long TOLERANCE_NS = TimeUnit.MICROSECONDS.toNanos(200);

    private final WorkCompletions records = WorkCompletions.allocate(8);
    private final WorkCompletion completion = new WorkCompletion();

    @Test
    void shouldTakeTheTimeBetweenThePostAndThePoll() {
        try (SelfConnectedQueue loop = open()) {
            final DeviceClock clock = DeviceClock.of(loop.context());
            long lastTimestamp = Long.MIN_VALUE;
            for (int i = 0; i < MESSAGES; i++) {
                final long ticksBefore = clock.ticks();
                final long postedNs = System.nanoTime();
                final long postedEpochNs = epochNanos();
                loop.send(i);
                awaitTwo(loop.queue());
                for (int k = 0; k < 2; k++) {
                    final long timestamp = records.timestamp(k);
                    assertTrue(timestamp >= ticksBefore, "before the post");
                    assertTrue(timestamp <= clock.ticks(), "after the poll");
                    assertTrue(timestamp >= lastTimestamp, "before an earlier completion");
                    lastTimestamp = timestamp;
                    assertBetween(postedNs - TOLERANCE_NS, clock.nanoTime(timestamp), System.nanoTime() + TOLERANCE_NS);
                    assertBetween(
                        postedEpochNs - WALL_TOLERANCE_NS, clock.epochNanos(timestamp), epochNanos() + WALL_TOLERANCE_NS);
                }
            }
        }
    }

    @Test
    void shouldKnowTheErrorOfEachComparison() {
        try (SelfConnectedQueue loop = open()) {
            final DeviceClock clock = DeviceClock.of(loop.context());
            for (int i = 0; i < MESSAGES; i++) {
                final long beforeNs = System.nanoTime();
                final long comparedNs = clock.nanoTime(clock.ticks());
                final long tookNs = System.nanoTime() - beforeNs;
                assertBetween(1, clock.comparisonErrorNs(), tookNs);
                assertBetween(beforeNs, comparedNs, beforeNs + tookNs);
            }
        }
    }

    @Test
    void shouldWriteTheRecordsOfAnyQueue() {
        try (SelfConnectedQueue loop = open()) {
            loop.send(-2);
            awaitTwo(loop.queue());
            for (int k = 0; k < 2; k++) {
                records.show(k, completion);
                assertEquals(-2, completion.workRequestId());
                assertTrue(completion.isSuccess());
                assertEquals(0, completion.lengthBytes());
                assertFalse(completion.hasImmediate());
                assertTrue(completion.queuePairNumber() != 0);
            }
            assertEquals(WcOpcode.SEND | WcOpcode.RECV,
                records.show(0, completion).opcode() | records.show(1, completion).opcode());
            assertThrows(IllegalStateException.class, completion::completionTimestamp);
            assertTrue(loop.queue().hasTimestamps());
        }
    }

    @Test
    void shouldPollIntoRecordsWithoutTimestamps() {
        try (SelfConnectedQueue loop = open()) {
            final Completions without = new Completions();
            loop.send(3);
            without.await(loop.queue(), 2);
            assertEquals(3, without.at(1).workRequestId());
            assertTrue(assertThrows(IllegalStateException.class, () -> without.records().timestamp(0)).getMessage()
                .contains("WorkCompletions.allocate"));
        }
    }

    @Test
    void shouldBePolledInParts() {
        try (SelfConnectedQueue loop = open()) {
            for (int i = 0; i < 5; i++) {
                loop.send(i);
            }
            int polled = 0;
            while (polled < 10) {
                final int count = loop.queue().poll(records, 1, 3);
                for (int k = 1; k <= count; k++) {
                    assertEquals(polled++ / 2, records.show(k, completion).workRequestId());
                }
            }
            assertEquals(0, loop.queue().poll(records, 0, 8));
        }
    }

    @Test
    void shouldRaiseEvents() {
        try (SelfConnectedQueue loop = open()) {
            loop.queue().requestNotification(false);
            loop.send(1);
            assertSame(loop.queue(), loop.channel().await(ConnectedPair.TIMEOUT_MS));
            awaitTwo(loop.queue());
        }
    }

    @Test
    void shouldBeOnAVectorOfChoice() {
        try (SelfConnectedQueue loop = open()) {
            final VerbsContext context = loop.context();
            for (int vector = 0; vector < context.completionVectors(); vector++) {
                VerbsCompletionQueue.createWithTimestamps(context, "chosen", 4, loop.channel(), vector).close();
            }
            for (final int none : new int[] {-1, context.completionVectors()}) {
                final String message = assertThrows(IllegalArgumentException.class,
                    () -> VerbsCompletionQueue.createWithTimestamps(context, "chosen", 4, null, none)).getMessage();
                assertTrue(message.startsWith("completion vector " + none + " of chosen: "), message);
            }
        }
    }

    @Test
    void shouldFailAfterItsEndLikeAnyQueue() {
        try (SelfConnectedQueue loop = open()) {
            final VerbsCompletionQueue queue = VerbsCompletionQueue.createWithTimestamps(loop.context(), "closed", 4, null);
            assertEquals(7, queue.capacity());
            queue.close();
            assertEquals(-Errno.EINVAL, queue.poll(records, 0, 1));
            final String message = assertThrows(VerbsException.class,
                () -> VerbsCompletionQueue.createWithTimestamps(loop.context(), "small", 0, null)).getMessage();
            assertTrue(message.contains("small cannot hold 0 completions"), message);
        }
    }

    /** mlx5 starts a poll of a queue that has failed with -2; others return errno values. */
    @Test
    void shouldReturnNoErrorOfAStartedPollAsCompletions() {
        final SymbolLookup queues = CCompiler.loadedLibrary("libfailedqueues.so", """
            #include <errno.h>
            #include <infiniband/verbs.h>
            static int negative(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr) { return -2; }
            static int positive(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr) { return 5; }
            static int none(struct ibv_cq_ex *cq, struct ibv_poll_cq_attr *attr) { return ENOENT; }
            struct ibv_cq_ex failed = {.start_poll = negative};
            struct ibv_cq_ex broken = {.start_poll = positive};
            struct ibv_cq_ex empty = {.start_poll = none};
            """);
        assertEquals(-2, pollOf(queues, "failed"));
        assertEquals(-IO_ERROR, pollOf(queues, "broken"));
        assertEquals(0, pollOf(queues, "empty"));
    }

    private int pollOf(final SymbolLookup queues, final String name) {
        return TimestampFunctions.ringpoll_poll_cq_ex(
            CallTurn.PLAIN, queues.find(name).orElseThrow().address(), 8, records.address(0, 8), 0, 0);
    }

    @Test
    void shouldNameTheCapabilityThatADeviceDoesNotHave() {
        assumeTrue(TestDevice.isLoopback());
        try (SyntheticSource source = SyntheticSource.open()) {
            final VerbsException refused = assertThrows(VerbsException.class,
                () -> VerbsCompletionQueue.createWithTimestamps(source.context(), "orders", 16, null));
            assertEquals(Errno.EOPNOTSUPP, refused.errno());
            assertEquals("ibv_create_cq_ex", refused.function());
            assertTrue(refused.getMessage().contains("orders needs the capability \"completion timestamps\", which synthetic0 " +
                "does not have; use VerbsCompletionQueue.create"), refused.getMessage());
        }
    }

    /** As an artifact that was built on a machine of another architecture. */
    @Test
    void shouldNotBeOfferedWhereTheArtifactHasNoLibraryOfItsOwn() {
        assertEquals("""
            false
            ibv_query_rt_values_ex: the device clock needs libringpoll.so
            ibv_create_cq_ex: orders needs libringpoll.so""", JavaProcess.create().property(Device.DEVICE_PROPERTY, "loopback")
            .run(WithoutLibringpoll.class));
    }

    /** Prints the answers of the capability. */
    static final class WithoutLibringpoll {
        private static final PrintStream OUT = System.out;

        private WithoutLibringpoll() {
        }

        public static void main(final String[] arguments) {
            final DeviceLibraries all = Libraries.current();
            DeviceLibraries.use(new DeviceLibraries(all.ibverbs(), all.rdmacm(), all.rpma(), Optional.empty()));
            try (Peer peer = Peer.ofLocal(TestDevice.address())) {
                final VerbsContext context = peer.context();
                OUT.println(DeviceClock.isOfferedBy(context));
                print(() -> DeviceClock.of(context));
                print(() -> VerbsCompletionQueue.createWithTimestamps(context, "orders", 16, null));
            }
        }

        private static void print(final Executable refused) {
            final VerbsException failure = assertThrows(VerbsException.class, refused);
            assertEquals(Errno.EOPNOTSUPP, failure.errno());
            assertTrue(failure.getMessage().contains("it is not part of the artifact for the architecture"),
                failure.getMessage());
            OUT.println(failure.function() + ": " + failure.getMessage().replaceAll(
                ".*(orders|the device clock) needs the capability .*, which (needs libringpoll.so).*", "$1 $2"));
        }
    }

    /** Ends the test where the device does not have the capability. */
    private static SelfConnectedQueue open() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            assumeTrue(DeviceClock.isOfferedBy(peer.context()), peer.context() + " has no " + DeviceClock.CAPABILITY);
        }
        return new SelfConnectedQueue("timed", true);
    }

    private void awaitTwo(final VerbsCompletionQueue queue) {
        final long startNs = System.nanoTime();
        int polled = 0;
        while (polled < 2) {
            polled += queue.poll(records, polled, 2 - polled);
            assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(50), "no completion");
        }
    }

    private static long epochNanos() {
        final Instant now = Instant.now();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }

    private static void assertBetween(final long least, final long actual, final long most) {
        assertTrue(least <= actual && actual <= most, () -> actual + " is not between " + least + " and " + most);
    }
}
