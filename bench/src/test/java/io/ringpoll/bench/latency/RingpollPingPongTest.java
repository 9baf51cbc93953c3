package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.bench.baseline.CLink;
import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.fault.FaultInjection;
import io.ringpoll.fault.FaultPlan;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A turn of ping-pong that makes no progress. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RingpollPingPongTest {
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndATurnOfCInWhichNothingCompletesAnyMore(final boolean bare) {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        final HotThreads threads = new HotThreads(1, 1024, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
        final Turn turn = new Turn(0, 0, TimeUnit.MINUTES.toNanos(10), Long.MAX_VALUE);
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("delay:10s@500"));
            CLinkContestant contestant = CLinkContestant.pingPong(CLink.open(TestDevice.address(), "7493"), bare,
                Traffic.Operation.SEND, 64, threads, TimeUnit.SECONDS.toNanos(2))) {
            final TimeoutException stalled = assertThrows(TimeoutException.class, () -> contestant.run(turn));
            assertTrue(stalled.getMessage().contains("nothing has completed for 2 s"), stalled::getMessage);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndATurnInWhichNothingCompletesAnyMore(final boolean runToCompletion) {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device takes a fault plan");
        final HotThreads threads =
            new HotThreads(1, 1024, 32, WaitMode.YIELD, HotCpus.unpinned(), HotCpus.ANY);
        final Turn turn = new Turn(0, 0, TimeUnit.MINUTES.toNanos(10), Long.MAX_VALUE);
        try (FaultInjection injection = FaultInjection.apply(FaultPlan.parse("delay:10s@500"));
            RingpollPingPong contestant = new RingpollPingPong(new LinkedPair(RdmaApi.RPMA, TestDevice.address(), 7493),
                Traffic.Operation.SEND, 64, threads, runToCompletion, null, TimeUnit.SECONDS.toNanos(2))) {
            final TimeoutException stalled = assertThrows(TimeoutException.class, () -> contestant.run(turn));
            assertTrue(stalled.getMessage().contains("nothing has completed for 2 s"), stalled::getMessage);
        }
    }
}
