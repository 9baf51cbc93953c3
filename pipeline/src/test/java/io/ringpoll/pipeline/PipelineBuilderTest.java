package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.poller.ScriptedQueue;
import java.util.List;
import java.util.Set;
import org.agrona.concurrent.BusySpinIdleStrategy;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class PipelineBuilderTest {
    private final CompletionHandler handler = (wc, sequence, endOfBatch) -> { };

    @Test
    void shouldReportAllErrorsOfADescriptionTogether() {
        final ScriptedQueue queue = new ScriptedQueue("the queue");
        final WaitStrategy shared = new BusySpinWaitStrategy();
        final PipelineBuilder description = Pipeline.builder()
            .ringSize(100)
            .batchLimit(0)
            .pollerName("a")
            .pollerCpu(-2)
            .queue(queue)
            .queue(queue)
            .onReceive(handler, options -> options.name("a").waitStrategy(shared).maxHeld(51).after("later"))
            .onReceive(null, options -> options.name("a").waitStrategy(shared).maxBatch(-1).failurePolicy(null))
            .on(Set.of(), handler, options -> { })
            .discard(CompletionPath.ERROR);
        assertEquals(
            List.of(
                "ring size 100 is not a power of two from 2 to 33554432",
                "batch limit 0 is not from 1 to the ring size, 100",
                "the poller: there is no CPU -2",
                "the send-write path has no handler: set one, or discard the path",
                "handler a: it must not hold 51 slots, only up to half of the ring, 50",
                "handler a follows later, but no handler of that name was added before",
                "handler a is null",
                "two handlers are named a: use unique names",
                "handler a: maxBatch -1 is not from 1 to the ring size, 100",
                "handler a shares its wait strategy with another handler: use separate instances",
                "handler a has no failure policy",
                "handler ringpoll- has no path",
                "the poller and a handler are both named a",
                "the queue was added twice"),
            faultsOf(description));
    }

    @Test
    void shouldReportARingWithoutSlotsOnce() {
        for (final int size : new int[] {0, 1, -1, Integer.MIN_VALUE}) {
            assertEquals(
                List.of("ring size " + size + " is not a power of two from 2 to 33554432"),
                faultsOf(Pipeline.builder().ringSize(size).onAll(handler)));
        }
    }

    @Test
    void shouldRejectAPollerAndAHandlerSpinningOnOneCpu() {
        assertEquals(
            List.of("handler ringpoll-all and the poller both spin on CPU 1: pin one elsewhere, or let one of them yield"),
            faultsOf(Pipeline.builder().pollerCpu(1).idleStrategy(BusySpinIdleStrategy.INSTANCE)
                .onAll(handler, options -> options.cpu(1).waitStrategy(WaitMode.BUSY_SPIN))));
    }

    @Test
    void shouldRejectAStageWithoutAHandlerBeforeIt() {
        final PipelineBuilder empty = Pipeline.builder();
        assertEquals(
            "then() follows a handler, but no handler has been added",
            assertThrows(IllegalStateException.class, () -> empty.then(handler)).getMessage());
    }

    @Test
    void shouldRejectAPipelineThatDiscardsAllPaths() {
        final PipelineBuilder useless = Pipeline.builder();
        Set.of(CompletionPath.values()).forEach(useless::discard);
        assertEquals(List.of("all paths are discarded: set a handler for one at least"), faultsOf(useless));
    }

    @Test
    void shouldGiveHandlersOfTheSamePathDifferentNames() {
        try (Pipeline pipeline =
                Pipeline.builder().name("orders").ringSize(8).onAll(handler).onAll(handler).onReceive(handler).start()) {
            assertEquals(
                List.of("orders-all", "orders-all-2", "orders-receive"),
                pipeline.handlerThreads().stream().map(Thread::getName).toList());
            assertEquals("orders-poller", pipeline.pollerThread().getName());
        }
    }

    @Test
    void shouldSelectDefaultWaitsByTheNumberOfCores() {
        final PipelineBuilder description = Pipeline.builder().onAll(handler).onError(handler);
        assertEquals(WaitMode.BUSY_SPIN, description.cores(4, 1).defaultWait());
        assertEquals(WaitMode.YIELD, description.cores(3, 1).defaultWait());
        assertEquals(WaitMode.SLEEP, description.cores(1, 1).defaultWait());
    }

    private static List<String> faultsOf(final PipelineBuilder description) {
        return assertThrows(IllegalArgumentException.class, description::start).getMessage().lines().toList();
    }
}
