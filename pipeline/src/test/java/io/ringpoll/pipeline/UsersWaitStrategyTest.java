package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.BusySpinWaitStrategy;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.TimeoutException;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.ScriptedQueue;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Wait strategies of the user that break the contract: the pipeline halts, and leaves no thread. */
@Timeout(60)
class UsersWaitStrategyTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder recorder = new Recorder();
    private final Recorder other = new Recorder();

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }

    private static void awaitHalt(final Pipeline pipeline) {
        final long startNs = System.nanoTime();
        while (pipeline.state() != PipelineState.HALTED) {
            assertTrue(System.nanoTime() - startNs < BOUND_NS, "not in time");
            Thread.yield();
        }
    }

    private static void assertLeavesNoThread(final Pipeline pipeline) throws InterruptedException {
        pipeline.close(BOUND_NS);
        assertTrue(pipeline.pollerThread().join(Duration.ofSeconds(10)));
        for (final Thread handler : pipeline.handlerThreads()) {
            assertTrue(handler.join(Duration.ofSeconds(10)), handler::toString);
        }
        assertTrue(pipeline.slab().isFreed());
    }

    /** For instance the cursor for a handler of a later stage. */
    @Test
    void shouldHaltIfItReturnsASlotThatIsNotPublished() throws InterruptedException {
        final WaitStrategy early = new WaitStrategy() {
            @Override
            public long waitFor(final long sequence, final Sequence cursor, final Sequence dependent,
                final SequenceBarrier barrier) {
                return Math.max(sequence, cursor.get()) + 7;
            }

            @Override
            public void signalAllWhenBlocking() {
                // It never waits.
            }
        };
        final Pipeline pipeline = Pipeline.builder().onAll(recorder, options -> options.name("early").waitStrategy(early))
            .queue(queue).start();
        awaitHalt(pipeline);
        assertEquals("the wait strategy of handler early returned slot 7, but the last one is -1: return what the dependent " +
            "sequence has reached", pipeline.failure().getMessage());
        assertEquals(List.of(), recorder.ids);
        assertLeavesNoThread(pipeline);
    }

    @Test
    void shouldEndAllHandlersIfItsSignalThrows() throws InterruptedException {
        final WaitStrategy broken = new WaitStrategy() {
            private final WaitStrategy spin = new BusySpinWaitStrategy();

            @Override
            public long waitFor(final long sequence, final Sequence cursor, final Sequence dependent,
                final SequenceBarrier barrier) throws AlertException, InterruptedException, TimeoutException {
                return spin.waitFor(sequence, cursor, dependent, barrier);
            }

            @Override
            public void signalAllWhenBlocking() {
                throw new IllegalStateException("provoked");
            }
        };
        final Pipeline pipeline = Pipeline.builder().onAll(recorder, options -> options.waitStrategy(broken)).onAll(other)
            .queue(queue).start();
        add(3);
        awaitHalt(pipeline);
        assertEquals("provoked", pipeline.failure().getMessage());
        assertLeavesNoThread(pipeline);
    }
}
