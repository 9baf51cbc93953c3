package io.ringpoll.verify.torture.processes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.management.ThreadMXBean;
import io.ringpoll.internal.rc.RcListener;
import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verify.torture.supervised.Violations;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Both sides of the connections of a life, within this process. */
@Timeout(300)
class TrafficTest {
    private static final int REQUESTS = 100;
    private static final int PLAYS = 10;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(120);

    private final Violations violations = new Violations();

    /** Works with both sides. */
    private interface Work {
        void with(Traffic survivor, Traffic other);
    }

    @ParameterizedTest
    @EnumSource(RdmaApi.class)
    void shouldAccountForAllRequestsWhenASideDisconnectsInTheMiddleOfTheWork(final RdmaApi api) {
        for (final boolean survivorCloses : List.of(true, false)) {
            play(api, drawn(life -> life.connections() > 1 && life.receiveQueue() == survivorCloses), (survivor, other) -> {
                until(survivor, other, () -> survivor.progress() > REQUESTS && other.progress() > REQUESTS);
                survivor.mayFail();
                (survivorCloses ? survivor : other).disconnect();
                until(survivor, other, () -> List.of(survivor, other).stream().allMatch(
                    traffic -> traffic.isOver() && traffic.isSettled()));
            });
        }
    }

    @Test
    void shouldBuildNoTextOfViolationsThatThereAreNot() {
        play(RdmaApi.RPMA, drawn(life -> life.connections() == 1), (survivor, other) -> {
            until(survivor, other, () -> survivor.progress() > REQUESTS && other.progress() > REQUESTS);
            until(survivor, other, () -> {
                survivor.quieten();
                other.quieten();
                return survivor.isQuiet() && other.isQuiet();
            });
            Allocation.assertNone(survivor::step);
        });
    }

    /** Their first use takes seconds on an emulated CPU, in which the completions behind wait for the handler. */
    @Test
    void shouldBuildNoTextOfFailuresThatAreExpected() {
        final AtomicLong least = new AtomicLong(Long.MAX_VALUE);
        for (int i = 0; i < PLAYS && least.get() > 0; i++) {
            play(RdmaApi.RPMA, drawn(life -> life.connections() == 1), (survivor, other) -> {
                until(survivor, other, () -> survivor.progress() > REQUESTS && other.progress() > REQUESTS);
                final long before = bytesOfHandlers();
                survivor.mayFail();
                survivor.disconnect();
                until(survivor, other, () -> List.of(survivor, other).stream().allMatch(
                    traffic -> traffic.isOver() && traffic.isSettled()));
                least.accumulateAndGet(bytesOfHandlers() - before, Math::min);
            });
        }
        assertEquals(0, least.get(), "bytes allocated by handlers after the end");
    }

    private static long bytesOfHandlers() {
        assumeTrue(ManagementFactory.getThreadMXBean() instanceof ThreadMXBean, "this JVM does not count allocated bytes");
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().contains("-handler-"))
            .mapToLong(thread -> threads.getThreadAllocatedBytes(thread.threadId())).sum();
    }

    /** The shape of the first seed whose first life is such a one, without faults. */
    private static ProcessShape drawn(final Predicate<Life> first) {
        return LongStream.iterate(1, seed -> seed + 1)
            .mapToObj(seed -> ProcessShape.draw(new SplittableRandom(seed), false))
            .filter(shape -> first.test(shape.peers().getFirst().getFirst())).findFirst().orElseThrow();
    }

    private void play(final RdmaApi api, final ProcessShape shape, final Work work) {
        final Life life = shape.peers().getFirst().getFirst();
        final Registry registry = new Registry(violations);
        final Registry registryOfOther = new Registry(violations);
        try (RcPeer peer = api.ofLocal(TestDevice.address()); PipelineGroup group = registry.start(shape, "survivor-");
            PipelineGroup groupOfOther = registryOfOther.start(shape, "other-");
            Traffic survivor = new Traffic(registry, group, peer, life, false, null, () -> { });
            Traffic other = new Traffic(registryOfOther, groupOfOther, peer, life, true, null, () -> { });
            RcListener endpoint = peer.listen(TestDevice.address(), 0)) {
            final CompletableFuture<Boolean> connected =
                CompletableFuture.supplyAsync(() -> other.connect(TestDevice.address(), endpoint.port()));
            assertTrue(survivor.accept(endpoint, ignored -> connected.isCompletedExceptionally()));
            assertTrue(connected.join());
            work.with(survivor, other);
        }
        assertEquals(List.of(), violations.lines(), life::toString);
    }

    private void until(final Traffic survivor, final Traffic other, final BooleanSupplier isDone) {
        final long startNs = System.nanoTime();
        while (!isDone.getAsBoolean()) {
            survivor.step();
            other.step();
            assertEquals(List.of(), violations.lines());
            assertTrue(System.nanoTime() - startNs < PATIENCE_NS, () -> survivor + ", " + other);
        }
    }
}
