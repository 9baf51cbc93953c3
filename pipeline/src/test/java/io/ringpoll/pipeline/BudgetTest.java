package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** While the pipeline does not poll, posts are refused before the completion queue can overrun, and the counters show it. */
@Tag(TestDevice.TAG)
@Timeout(60)
class BudgetTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    @Test
    void shouldRefusePostsWhileTheHandlersAreBehindAndAcceptThemAgainLater() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(32).sqSize(1000));
            Pipeline pipeline = Pipeline.builder().ringSize(64).onAll((wc, sequence, endOfBatch) -> { }).start()) {
            final RpmaCompletionQueue queue = pair.client().completionQueue();
            final int depth = queue.budget().depth();
            pipeline.addQueue(queue);
            assertTrue(pipeline.pause(BOUND_NS));
            int posted = 0;
            while (pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, posted)) {
                posted++;
            }
            assertEquals(depth, posted);
            await(() -> pipeline.pollerCounters().budgetInFlight() == depth);
            assertEquals(depth, pipeline.pollerCounters().budgetDepth());
            assertTrue(pipeline.resume(BOUND_NS));
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            await(() -> pipeline.pollerCounters().budgetInFlight() == 0 && pipeline.pollerCounters().budgetRefused() == 1);
            assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, posted));
            // Not drained: a device completes a request some time after its post.
            await(() -> pipeline.pollerCounters().completions() == depth + 1);
            assertEquals(0, pipeline.pollerCounters().errors());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldReleaseTheBudgetBeforeAHandlerPosts(final boolean runsToCompletion) throws InterruptedException {
        final int count = runsToCompletion ? 2_000 : 20_000;
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(1).sqSize(1000))) {
            final Connection client = pair.client();
            final AtomicInteger posted = new AtomicInteger();
            final AtomicInteger refused = new AtomicInteger();
            final AtomicInteger handled = new AtomicInteger();
            final PipelineBuilder description = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
                if (posted.get() < count) {
                    refused.addAndGet(post(client, posted) ? 0 : 1);
                }
                handled.incrementAndGet();
            });
            // Each completion releases capacity for exactly one post.
            try (Pipeline pipeline = (runsToCompletion ? description.runToCompletion() : description).start()) {
                while (post(client, posted)) {
                    // Until the queue's depth is reached.
                }
                pipeline.addQueue(client.completionQueue());
                await(() -> handled.get() == count || refused.get() > 0);
                assertEquals(0, refused.get());
                assertEquals(0, pipeline.pollerCounters().errors());
            }
        }
    }

    private static boolean post(final Connection client, final AtomicInteger posted) {
        if (client.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, posted.get())) {
            posted.incrementAndGet();
            return true;
        }
        return false;
    }

    private static void await(final BooleanSupplier condition) throws InterruptedException {
        final long deadlineNs = System.nanoTime() + BOUND_NS;
        while (!condition.getAsBoolean()) {
            assertFalse(System.nanoTime() > deadlineNs, "not in time");
            Thread.sleep(1);
        }
    }
}
