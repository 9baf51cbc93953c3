package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lmax.disruptor.BusySpinWaitStrategy;
import io.ringpoll.completion.CompletionPath;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The limits of each setting of a description: the last accepted value, and the first refused one. */
@Timeout(60)
class PipelineCheckTest {
    private static final int MAX = 1 << 25;
    private static final String SPINNING =
        "handler ringpoll-all and the poller both spin on CPU 1: pin one elsewhere, or let one of them yield";

    private final CompletionHandler handler = new Recorder();

    @Test
    void shouldAcceptPowersOfTwoAsRingSize() {
        for (final int size : new int[]{2, 4, 64, MAX}) {
            assertEquals(size, concluded(size, options -> { }).ringSize);
        }
        for (final int size : new int[]{3, 6, 63, MAX - 1, 2 * MAX}) {
            assertEquals(List.of("ring size " + size + " is not a power of two from 2 to " + MAX),
                faultsOf(Pipeline.builder().ringSize(size).onAll(handler)));
        }
    }

    @Test
    void shouldAcceptBatchLimitsUpToTheRingSize() {
        for (final int limit : new int[]{1, 64}) {
            assertEquals(limit, PipelineConfig.conclude(description(64, options -> { }).batchLimit(limit)).batchLimit);
            final HandlerConfig concluded = concluded(64, options -> options.maxBatch(limit)).handlers.getFirst();
            assertEquals(limit, concluded.maxBatch());
        }
        for (final int limit : new int[]{-1, 0, 65}) {
            assertEquals(List.of("batch limit " + limit + " is not from 1 to the ring size, 64"),
                faultsOf(description(64, options -> { }).batchLimit(limit)));
        }
        for (final int limit : new int[]{-1, 65}) {
            assertEquals(List.of("handler ringpoll-all: maxBatch " + limit + " is not from 1 to the ring size, 64"),
                faultsOf(description(64, options -> options.maxBatch(limit))));
        }
    }

    @Test
    void shouldRejectNegativeTimeOuts() {
        for (final long timeoutNs : new long[]{Long.MIN_VALUE, -1}) {
            assertEquals(
                List.of("startTimeoutNs " + timeoutNs + " is negative", "shutdownTimeoutNs " + timeoutNs + " is negative",
                    "handler ringpoll-all: idleTimeoutNs " + timeoutNs + " is negative"),
                faultsOf(description(64, options -> options.idleTimeoutNs(timeoutNs))
                    .startTimeoutNs(timeoutNs).shutdownTimeoutNs(timeoutNs)));
        }
    }

    @Test
    void shouldAcceptHeldSlotsUpToHalfOfTheRing() {
        for (final int held : new int[]{0, 32}) {
            assertEquals(held, concluded(64, options -> options.maxHeld(held)).handlers.getFirst().maxHeld());
        }
        for (final int held : new int[]{-1, 33}) {
            assertEquals(
                List.of("handler ringpoll-all: it must not hold " + held + " slots, only up to half of the ring, 32"),
                faultsOf(description(64, options -> options.maxHeld(held))));
        }
    }

    @Test
    void shouldNotReportLimitsOfARingThatCannotExist() {
        assertEquals(List.of("ring size 1 is not a power of two from 2 to " + MAX),
            faultsOf(description(1, options -> options.maxBatch(5).maxHeld(5)).batchLimit(5)));
    }

    @Test
    void shouldAcceptTheLimitsOfTheSmallestRing() {
        final PipelineConfig config =
            PipelineConfig.conclude(description(2, options -> options.maxBatch(2).maxHeld(1)).batchLimit(2));
        assertEquals(2, config.batchLimit);
        assertEquals(List.of("batch limit 3 is not from 1 to the ring size, 2",
                "handler ringpoll-all: maxBatch 3 is not from 1 to the ring size, 2",
                "handler ringpoll-all: it must not hold 2 slots, only up to half of the ring, 1"),
            faultsOf(description(2, options -> options.maxBatch(3).maxHeld(2)).batchLimit(3)));
    }

    @Test
    void shouldAcceptCpusAndNone() {
        for (final int cpu : new int[]{Pinning.ANY_CPU, 0, 1}) {
            assertEquals(cpu, concluded(64, options -> options.cpu(cpu)).handlers.getFirst().cpu());
            assertEquals(cpu, PipelineConfig.conclude(description(64, options -> { }).pollerCpu(cpu)).pollerCpu);
        }
        assertEquals(List.of("the poller: there is no CPU -2", "handler ringpoll-all: there is no CPU -3"),
            faultsOf(description(64, options -> options.cpu(-3)).pollerCpu(-2)));
    }

    @Test
    void shouldRefuseOnlyTwoSpinningThreadsOnOneCpu() {
        final PipelineBuilder refused =
            description(64, options -> options.cpu(1).waitStrategy(WaitMode.BUSY_SPIN)).pollerCpu(1);
        assertEquals(List.of(SPINNING), faultsOf(refused.idleStrategy(NoOpIdleStrategy.INSTANCE)));
        PipelineConfig.conclude(refused.idleStrategy(YieldingIdleStrategy.INSTANCE));
        PipelineConfig.conclude(refused.idleStrategy(NoOpIdleStrategy.INSTANCE).pollerCpu(0));
        PipelineConfig.conclude(refused.pollerCpu(Pinning.ANY_CPU));
        final PipelineBuilder anywhere = description(64, options -> options.waitStrategy(WaitMode.BUSY_SPIN));
        PipelineConfig.conclude(anywhere.idleStrategy(NoOpIdleStrategy.INSTANCE));
        PipelineConfig.conclude(description(64, options -> options.cpu(1).waitStrategy(WaitMode.YIELD))
            .idleStrategy(NoOpIdleStrategy.INSTANCE).pollerCpu(1));
        PipelineConfig.conclude(
            description(64, options -> options.cpu(1).waitStrategy(WaitMode.BUSY_SPIN).waitStrategy(new BusySpinWaitStrategy()))
                .idleStrategy(NoOpIdleStrategy.INSTANCE).pollerCpu(1));
    }

    @Test
    void shouldNameEachServiceThatIsNull() {
        final PipelineBuilder description = Pipeline.builder().onAll(handler).name(null).pin(null).onFailure(null)
            .onUndelivered(null).queue(null);
        assertEquals(
            List.of("the name is null", "the pinning is null", "the failure listener is null",
                "the consumer of undelivered completions is null", "a completion queue is null"),
            faultsOf(description));
    }

    @Test
    void shouldRefuseNamesThatNobodyCanRead() {
        assertEquals(List.of("the name is empty"), faultsOf(description(64, options -> { }).name("")));
        assertEquals(List.of("the name is empty"), faultsOf(description(64, options -> { }).name(" ")));
        for (final String name : new String[]{"a\nb", "\t\r", "nul\0", "\u0085"}) {
            assertEquals(List.of(name.isBlank() ? "the name is empty" : "the name contains a control character"),
                faultsOf(description(64, options -> { }).name(name).pollerName("p")));
        }
        assertEquals(List.of("the poller's name is empty"), faultsOf(description(64, options -> { }).pollerName("")));
        PipelineConfig.conclude(description(64, options -> { }).name("a/../../b \"*?,=:\u2028\u00e9"));
    }

    @Test
    void shouldRefuseAStageOrWaitOfAHandlerOnThePollingThread() {
        final String suffix = ", but runs to completion on the poller's thread: ";
        assertEquals(List.of("handler ringpoll-all has a wait" + suffix + "set idleStrategy"),
            faultsOf(description(64, options -> options.waitStrategy(new BusySpinWaitStrategy())).runToCompletion()));
        assertEquals(List.of("handler ringpoll-all has a wait" + suffix + "set idleStrategy"),
            faultsOf(description(64, options -> options.waitStrategy(WaitMode.SLEEP)).runToCompletion()));
        assertEquals(
            List.of("handler last follows another" + suffix + "handlers run there in the order of their description"),
            faultsOf(description(64, options -> { }).onAll(handler, options -> options.name("last").after("ringpoll-all"))
                .runToCompletion()));
    }

    @Test
    void shouldRefuseAPathWithoutAHandlerUnlessItIsDiscarded() {
        final PipelineBuilder description = Pipeline.builder().onReceive(handler);
        assertEquals(
            List.of("the send-write path has no handler: set one, or discard the path",
                "the error path has no handler: set one, or discard the path"),
            faultsOf(description));
        PipelineConfig.conclude(description.discard(CompletionPath.SEND_WRITE).onError(handler));
        assertEquals(List.of("handler ringpoll- has no path"),
            faultsOf(description.on(Set.of(), handler, options -> { })));
    }

    private PipelineConfig concluded(final int ringSize, final Consumer<HandlerOptions> options) {
        return PipelineConfig.conclude(description(ringSize, options));
    }

    private PipelineBuilder description(final int ringSize, final Consumer<HandlerOptions> options) {
        return Pipeline.builder().ringSize(ringSize).onAll(handler, options);
    }

    private static List<String> faultsOf(final PipelineBuilder description) {
        return assertThrows(IllegalArgumentException.class, () -> PipelineConfig.conclude(description)).getMessage().lines()
            .toList();
    }
}
