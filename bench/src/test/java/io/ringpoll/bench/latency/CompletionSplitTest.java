package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.DeviceClock;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticSource;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The parts of a completion's time, with a delay in each of them. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CompletionSplitTest {
    private static final int RING_SIZE = 64;
    private static final int OPERATIONS = 4;
    private static final String DELAYED = "delay:20ms@1+1";
    /** The delay less the error of the conversion, of threads that may lose their processors while they compare clocks. */
    private static final long DELAYED_NS = TimeUnit.MILLISECONDS.toNanos(19);
    private static final long HANDLED_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final HotThreads threads = new HotThreads(1, RING_SIZE, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
    private final int port = Integer.parseInt(ConnectedPair.anyPort());

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCountADelayInTheDeviceBeforeThePollInPingPong(final boolean runToCompletion) throws TimeoutException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        final Turn turn = new Turn(0, 0, TimeUnit.MINUTES.toNanos(1), OPERATIONS);
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse(DELAYED));
            Contestant contestant =
                new RingpollPingPong(pair(), Traffic.Operation.SEND, 64, threads, runToCompletion, timestamps())) {
            final SplitTimes split = requireAllSplit(contestant.run(turn));
            assertTrue(contestant.label().endsWith("-timestamps"), contestant::label);
            assertTrue(split.deviceToPollNs().getMinValue() >= DELAYED_NS, split::toString);
        }
    }

    @ParameterizedTest
    @EnumSource(Traffic.Operation.class)
    void shouldCountADelayInTheDeviceBeforeThePollAtARate(final Traffic.Operation operation) throws TimeoutException {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        final Schedule schedule = Schedule.rate(20);
        final Turn turn = new Turn(0, 0, TimeUnit.MILLISECONDS.toNanos(200), 0);
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse(DELAYED));
            Contestant contestant = operation == Traffic.Operation.SEND ?
                new RingpollPacedSends(pair(), 64, schedule, threads, timestamps()) :
                new RingpollPacedPosts(pair(), operation, 64, schedule, threads, timestamps())) {
            final SplitTimes split = requireAllSplit(contestant.run(turn));
            // Where the posting thread loses its processor, an operation is posted during the delay of the one before.
            assertTrue(split.deviceToPollNs().getMaxValue() >= DELAYED_NS, split::toString);
        }
    }

    private static SplitTimes requireAllSplit(final LatencyWindow window) {
        assertEquals("", window.fault());
        final SplitTimes split = window.split().orElseThrow();
        assertEquals(OPERATIONS, split.deviceToPollNs().getTotalCount());
        assertEquals(OPERATIONS, split.pollToHandlerNs().getTotalCount());
        assertEquals(0, split.negative());
        return split;
    }

    @Test
    void shouldCountAWaitInTheRingBeforeTheHandler() throws InterruptedException {
        final Timestamps timestamps = timestamps();
        assumeTrue(timestamps.isOffered(), "the device does not have " + DeviceClock.CAPABILITY);
        final CompletionSplit split = timestamps.newSplit(RING_SIZE);
        final CountDownLatch handled = new CountDownLatch(OPERATIONS);
        try (LinkedPair pair = pair()) {
            final LinkEnd client = pair.client();
            final List<CompletionQueue> queues = List.of(split.stamped(client.connection().completionQueue()));
            try (Pipeline pipeline = threads.pipeline((completion, sequence, endOfBatch) -> {
                split.record(completion, sequence, System.nanoTime());
                LockSupport.parkNanos(HANDLED_NS);
                handled.countDown();
            }, queues).start()) {
                for (int i = 0; i < OPERATIONS; i++) {
                    assertTrue(client.connection().write(client.peerMemory(), 0, client.memory(), 0, 64, true, i));
                }
                assertTrue(handled.await(10, TimeUnit.SECONDS));
            }
        }
        final SplitTimes times = split.times();
        assertTrue(times.pollToHandlerNs().getMaxValue() >= HANDLED_NS, "the last waits for the handler of the first");
        assertTrue(times.deviceToPollNs().getMinValue() < HANDLED_NS, "the poller does not wait for it");
    }

    @Test
    void shouldKeepTheTimeOfEachCompletionOfARing() {
        final PollTimes times = new PollTimes(4);
        times.polled(3, 100);
        assertEquals(List.of(100L, 100L, 100L), List.of(times.polledNs(0), times.polledNs(1), times.polledNs(2)));
        times.polled(2, 200);
        assertEquals(200, times.polledNs(3));
        assertEquals(200, times.polledNs(4));
        assertEquals(100, times.polledNs(2));
    }

    @Test
    void shouldStateTheResolutionAndTheErrorOfTheClock() {
        final Timestamps timestamps = timestamps();
        assumeTrue(timestamps.isOffered(), "the device does not have " + DeviceClock.CAPABILITY);
        final String line = printed(timestamps);
        assertTrue(line.matches("clock of \\S+: [0-9,]+ kHz; resolution \\d+\\.\\d\\d ns; in 200 comparisons .*\\R"), line);
        assertTrue(!TestDevice.isLoopback() || line.contains("1,000,000 kHz; resolution 1.00 ns"), line);
    }

    @Test
    void shouldNameTheCapabilityThatADeviceDoesNotHave() {
        assumeTrue(TestDevice.isLoopback(), "the synthetic queue is of the loopback device");
        try (SyntheticSource source = SyntheticSource.open()) {
            final Timestamps none = Timestamps.of(source.context());
            assertFalse(none.isOffered());
            assertEquals("no split into device to poll and poll to handler: synthetic0 does not have the capability "
                + "\"completion timestamps\"", printed(none).strip());
        }
    }

    private LinkedPair pair() {
        return new LinkedPair(RdmaApi.VERBS, TestDevice.address(), port, true);
    }

    private static Timestamps timestamps() {
        try (RcPeer peer = RdmaApi.VERBS.ofLocal(TestDevice.address())) {
            return Timestamps.of(peer.context());
        }
    }

    private static String printed(final Timestamps timestamps) {
        final StringWriter text = new StringWriter();
        timestamps.print(new PrintWriter(text, true));
        return text.toString();
    }
}
