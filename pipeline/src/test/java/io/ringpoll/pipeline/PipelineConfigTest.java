package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.concurrent.NoOpIdleStrategy;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PipelineConfigTest {
    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final List<HandlerOptions> options = new ArrayList<>();
    private final PipelineBuilder builder = Pipeline.builder().queue(queue).onAll(new Recorder(), options::add);

    /** Before anything of the pipeline is made. */
    @Test
    void shouldNameAPinningThatReturnsNull() {
        final PipelineBuilder builder = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { });
        assertEquals("the pinning returned null: return a map, which may be empty",
            assertThrows(NullPointerException.class, builder.pin((threads, taken) -> null)::start).getMessage());
        assertEquals("the wait of an assignment is null", assertThrows(NullPointerException.class,
            builder.pin((threads, taken) -> Map.of("ringpoll-poller", new Pinning.Assignment(0, null)))::start).getMessage());
    }

    @Test
    void shouldFillInDefaults() {
        final PipelineConfig config = PipelineConfig.conclude(builder.cores(2, 1));
        assertEquals("ringpoll-poller", config.pollerName);
        assertEquals(Pinning.ANY_CPU, config.pollerCpu);
        assertEquals(8192, config.ringSize);
        assertEquals(32, config.batchLimit);
        assertInstanceOf(YieldingIdleStrategy.class, config.idleStrategy);
        final HandlerConfig handler = config.handlers.getFirst();
        assertEquals("ringpoll-all", handler.roleName());
        assertEquals(Set.of(CompletionPath.values()), handler.paths());
        assertEquals(8192 / 4, handler.maxBatch());
        assertEquals(FailurePolicy.CONTINUE, handler.failurePolicy());
    }

    @Test
    void shouldNotChangeWithItsBuilder() {
        final PipelineConfig config = PipelineConfig.conclude(builder.ringSize(64));
        builder.name("later").pollerName("later").ringSize(128).batchLimit(1).queue(new ScriptedQueue("later"))
            .onAll(new Recorder());
        options.getFirst().name("later").maxBatch(1).cpu(1).failurePolicy(FailurePolicy.HALT);
        assertEquals("ringpoll", config.name);
        assertEquals("ringpoll-poller", config.pollerName);
        assertEquals(64, config.ringSize);
        assertEquals(32, config.batchLimit);
        assertEquals(List.of(new PipelineBuilder.DescribedQueue(queue, null)), config.queues);
        assertEquals(1, config.handlers.size());
        final HandlerConfig handler = config.handlers.getFirst();
        assertEquals("ringpoll-all", handler.roleName());
        assertEquals(16, handler.maxBatch());
        assertEquals(Pinning.ANY_CPU, handler.cpu());
        assertEquals(FailurePolicy.CONTINUE, handler.failurePolicy());
    }

    @Test
    void shouldNotChangeWithTheOptionsOfAnAddedHandler() {
        options.getFirst().name(null).maxBatch(1).cpu(1).maxHeld(4).failurePolicy(FailurePolicy.HALT).after("missing")
            .waitStrategy(WaitMode.BLOCK);
        final PipelineConfig config = PipelineConfig.conclude(builder.ringSize(64).cores(2, 1).onAll(new Recorder()));
        final HandlerConfig handler = config.handlers.getFirst();
        assertEquals("ringpoll-all", handler.roleName());
        assertEquals("ringpoll-all-2", config.handlers.getLast().roleName());
        assertEquals(16, handler.maxBatch());
        assertEquals(Pinning.ANY_CPU, handler.cpu());
        assertEquals(0, handler.maxHeld());
        assertEquals(FailurePolicy.CONTINUE, handler.failurePolicy());
        assertEquals(List.of(), handler.after());
        assertFalse(handler.isSignalled());
    }

    @Test
    void shouldPinThreadsInTheConfigurationAndNotInTheBuilder() {
        final List<Integer> candidates = new ArrayList<>();
        builder.onAll(new Recorder(), given -> given.name("placed").cpu(3)).pin((threads, taken) -> {
            candidates.add(threads.size());
            assertEquals(Set.of(3), taken);
            return Map.of("ringpoll-poller", new Pinning.Assignment(1, WaitMode.YIELD),
                "ringpoll-all", new Pinning.Assignment(2, WaitMode.BLOCK), "placed", new Pinning.Assignment(4, WaitMode.BLOCK));
        });
        for (int i = 0; i < 2; i++) {
            final PipelineConfig config = PipelineConfig.conclude(builder);
            assertEquals(1, config.pollerCpu);
            assertInstanceOf(YieldingIdleStrategy.class, config.idleStrategy);
            assertEquals(2, config.handlers.getFirst().cpu());
            assertTrue(config.handlers.getFirst().isSignalled());
            assertEquals(3, config.handlers.getLast().cpu());
        }
        assertEquals(List.of(2, 2), candidates);
    }

    @Test
    void shouldDeriveBatchLimitsFromTheRingSize() {
        for (final int[] sizeAndLimits : new int[][]{{2, 2, 1}, {4, 4, 1}, {8, 8, 2}, {32, 32, 8}, {64, 32, 16}}) {
            final PipelineConfig config = PipelineConfig.conclude(builder.ringSize(sizeAndLimits[0]));
            assertEquals(sizeAndLimits[1], config.batchLimit);
            assertEquals(sizeAndLimits[2], config.handlers.getFirst().maxBatch());
        }
    }

    @Test
    void shouldGiveHandlersOnThePollingThreadARingOfAFewBatches() {
        builder.runToCompletion();
        for (final int[] limitAndSize : new int[][]{{1, 4}, {2, 8}, {3, 16}, {32, 128}, {33, 256}, {4096, 8192}}) {
            final PipelineConfig config = PipelineConfig.conclude(builder.batchLimit(limitAndSize[0]));
            assertEquals(limitAndSize[1], config.ringSize);
            assertEquals(limitAndSize[0], config.handlers.getFirst().maxBatch());
        }
    }

    @Test
    void shouldLetAHandlerFollowThoseThatItNamesAndTheOneBefore() {
        builder.onAll(new Recorder(), given -> given.name("second").after("ringpoll-all"))
            .onReceive(new Recorder(), given -> given.name("third"))
            .then(new Recorder(), given -> given.name("last").after("second", "third", "ringpoll-all"));
        final List<HandlerConfig> handlers = PipelineConfig.conclude(builder).handlers;
        assertEquals(List.of(), handlers.get(0).after());
        assertEquals(List.of("ringpoll-all"), handlers.get(1).after());
        assertEquals(List.of(), handlers.get(2).after());
        assertEquals(Set.of("second", "third", "ringpoll-all"), Set.copyOf(handlers.get(3).after()));
        assertEquals(Set.of(CompletionPath.RECEIVE), handlers.get(3).paths());
    }

    @Test
    void shouldSignalHandlersThatBlockOrHaveTheirOwnWait() {
        final WaitStrategy own = new BusySpinWaitStrategy();
        builder.cores(8, 1).onAll(new Recorder(), given -> given.waitStrategy(own))
            .onAll(new Recorder(), given -> given.waitStrategy(WaitMode.BLOCK))
            .onAll(new Recorder(), given -> given.waitStrategy(WaitMode.SLEEP));
        final List<HandlerConfig> handlers = PipelineConfig.conclude(builder).handlers;
        assertEquals(List.of(false, true, true, false), handlers.stream().map(HandlerConfig::isSignalled).toList());
        assertInstanceOf(BusySpinWaitStrategy.class, handlers.get(0).waitStrategy());
        assertSame(own, handlers.get(1).waitStrategy());
        assertInstanceOf(ParkingWaitStrategy.class, handlers.get(2).waitStrategy());
        assertInstanceOf(SleepingWaitStrategy.class, handlers.get(3).waitStrategy());
    }

    @Test
    void shouldPlaceNoThreadThatHasACpuOrItsOwnWait() {
        final WaitStrategy own = new BusySpinWaitStrategy();
        final Pinning.Assignment place = new Pinning.Assignment(1, WaitMode.BLOCK);
        builder.pollerCpu(0).idleStrategy(NoOpIdleStrategy.INSTANCE)
            .onAll(new Recorder(), given -> given.name("own").waitStrategy(own))
            .onAll(new Recorder(), given -> given.name("yields").waitStrategy(WaitMode.YIELD)).pin((threads, taken) -> {
                assertEquals(Set.of(0), taken);
                assertEquals(
                    List.of(new Pinning.Candidate("ringpoll-all", false), new Pinning.Candidate("own", false),
                        new Pinning.Candidate("yields", false)),
                    threads);
                return Map.of("ringpoll-poller", place, "own", place, "yields", place);
            });
        final PipelineConfig config = PipelineConfig.conclude(builder);
        assertEquals(0, config.pollerCpu);
        assertSame(NoOpIdleStrategy.INSTANCE, config.idleStrategy);
        assertEquals(Pinning.ANY_CPU, config.handlers.get(0).cpu());
        assertEquals(1, config.handlers.get(1).cpu());
        assertSame(own, config.handlers.get(1).waitStrategy());
        assertEquals(1, config.handlers.get(2).cpu());
        assertFalse(config.handlers.get(2).isSignalled());
        builder.pollerCpu(Pinning.ANY_CPU).pin((threads, taken) -> Map.of("ringpoll-poller", place));
        assertEquals(1, PipelineConfig.conclude(builder).pollerCpu);
        assertSame(NoOpIdleStrategy.INSTANCE, PipelineConfig.conclude(builder).idleStrategy);
    }

    @Test
    void shouldAskForNoPlaceIfAllThreadsHaveOne() {
        final PipelineConfig config = PipelineConfig.conclude(
            Pipeline.builder().runToCompletion().pollerCpu(0).onAll(new Recorder()).pin((threads, taken) -> {
                throw new AssertionError("asked for " + threads);
            }));
        assertEquals(0, config.pollerCpu);
    }

    @Test
    void shouldRejectAnInvalidDescription() {
        builder.ringSize(3).pollerCpu(-2);
        final String message =
            assertThrows(IllegalArgumentException.class, () -> PipelineConfig.conclude(builder)).getMessage();
        assertEquals("ring size 3 is not a power of two from 2 to 33554432\nthe poller: there is no CPU -2", message);
    }
}
