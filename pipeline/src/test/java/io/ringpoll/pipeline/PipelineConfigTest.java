package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.verbs.CompletionPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class PipelineConfigTest {
    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final List<HandlerOptions> options = new ArrayList<>();
    private final PipelineBuilder builder = Pipeline.builder().queue(queue).onAll(new Recorder(), options::add);

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
        assertEquals(8192 / 4, handler.batchLimit());
        assertEquals(FailurePolicy.CONTINUE, handler.failurePolicy());
    }

    @Test
    void shouldNotChangeWithItsBuilder() {
        final PipelineConfig config = PipelineConfig.conclude(builder.ringSize(64));
        builder.name("later").pollerName("later").ringSize(128).batchLimit(1).queue(new ScriptedQueue("later"))
            .onAll(new Recorder());
        options.getFirst().name("later").batchLimit(1).cpu(1).onFailure(FailurePolicy.HALT);
        assertEquals("ringpoll", config.name);
        assertEquals("ringpoll-poller", config.pollerName);
        assertEquals(64, config.ringSize);
        assertEquals(32, config.batchLimit);
        assertEquals(List.of(queue), config.queues);
        assertEquals(1, config.handlers.size());
        final HandlerConfig handler = config.handlers.getFirst();
        assertEquals("ringpoll-all", handler.roleName());
        assertEquals(16, handler.batchLimit());
        assertEquals(Pinning.ANY_CPU, handler.cpu());
        assertEquals(FailurePolicy.CONTINUE, handler.failurePolicy());
    }

    @Test
    void shouldNotChangeWithTheOptionsOfAnAddedHandler() {
        options.getFirst().name(null).batchLimit(1).cpu(1).maxHeld(4).onFailure(FailurePolicy.HALT).after("missing")
            .waitStrategy(WaitMode.BLOCK);
        final PipelineConfig config = PipelineConfig.conclude(builder.ringSize(64).cores(2, 1).onAll(new Recorder()));
        final HandlerConfig handler = config.handlers.getFirst();
        assertEquals("ringpoll-all", handler.roleName());
        assertEquals("ringpoll-all-2", config.handlers.getLast().roleName());
        assertEquals(16, handler.batchLimit());
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
    void shouldRejectAnInvalidDescription() {
        builder.ringSize(3).pollerCpu(-2);
        final String message =
            assertThrows(IllegalArgumentException.class, () -> PipelineConfig.conclude(builder)).getMessage();
        assertEquals("ring size 3 is not a power of two from 2 to 33554432\nthe poller: there is no CPU -2", message);
    }
}
