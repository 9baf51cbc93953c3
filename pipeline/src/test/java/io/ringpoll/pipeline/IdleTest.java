package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.SequenceBarrier;
import com.lmax.disruptor.TimeoutBlockingWaitStrategy;
import com.lmax.disruptor.TimeoutException;
import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.poller.ScriptedQueue;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The call of a handler that has had no slot for a time. */
@Timeout(60)
class IdleTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    private static final long TIMEOUT_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private final ScriptedQueue queue = new ScriptedQueue("queue");

    /** Counts its calls by thread. */
    private static class Idler implements CompletionHandler {
        final CountDownLatch thrice = new CountDownLatch(3);
        final AtomicReference<Thread> thread = new AtomicReference<>();
        final AtomicInteger completions = new AtomicInteger();

        @Override
        public void onIdle() throws Exception {
            thread.set(Thread.currentThread());
            thrice.countDown();
        }

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            completions.incrementAndGet();
        }
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldCallAnIdleHandlerAgainAndAgain(final WaitMode wait) throws InterruptedException {
        final Idler idler = new Idler();
        try (Pipeline pipeline = Pipeline.builder().withoutCountersFile().queue(queue)
                .onAll(idler, options -> options.waitStrategy(wait).idleTimeoutNs(TIMEOUT_NS)).start()) {
            assertTrue(idler.thrice.await(20, TimeUnit.SECONDS));
            assertSame(pipeline.handlerThreads().getFirst(), idler.thread.get());
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(1, idler.completions.get());
        }
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldCallAnIdleHandlerOnThePollingThread(final WaitMode wait) throws InterruptedException {
        final Idler idler = new Idler();
        final Idler never = new Idler();
        final long longest = TimeUnit.DAYS.toNanos(1);
        try (Pipeline pipeline = Pipeline.builder().withoutCountersFile().runToCompletion().queue(queue)
                .idleStrategy(wait == WaitMode.BLOCK ? new EventDrivenIdle(0, longest) : wait.newIdleStrategy())
                .onAll(idler, options -> options.idleTimeoutNs(TIMEOUT_NS)).onSendWrite(never)
                .onReceive(never, options -> options.idleTimeoutNs(longest)).start()) {
            assertTrue(idler.thrice.await(20, TimeUnit.SECONDS));
            assertSame(pipeline.pollerThread(), idler.thread.get());
            queue.add(1, WcStatus.SUCCESS, WcOpcode.SEND);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertEquals(1, idler.completions.get());
        }
        assertEquals(3, never.thrice.getCount());
    }

    @Test
    void shouldCallAnIdleHandlerOfAnAgentInItsDutyCycle() throws InterruptedException {
        final Idler idler = new Idler();
        final Pipeline pipeline = Pipeline.builder().withoutCountersFile().asAgent().runToCompletion().queue(queue)
            .onAll(idler, options -> options.idleTimeoutNs(TIMEOUT_NS)).start();
        try (pipeline; AgentInvoker invoker = new AgentInvoker(Throwable::printStackTrace, null, pipeline.agent())) {
            invoker.start();
            assertTrue(pipeline.pause(BOUND_NS));
            final long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < 5 * TIMEOUT_NS) {
                invoker.invoke();
            }
            assertEquals(3, idler.thrice.getCount(), "paused");
            assertTrue(pipeline.resume(BOUND_NS));
            while (idler.thrice.getCount() > 0) {
                invoker.invoke();
            }
            assertSame(Thread.currentThread(), idler.thread.get());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldApplyTheFailurePolicyToAnIdleHandler(final boolean runsToCompletion) throws InterruptedException {
        final CountDownLatch failed = new CountDownLatch(1);
        final List<String> heard = new CopyOnWriteArrayList<>();
        final AtomicInteger calls = new AtomicInteger();
        final Idler failing = new Idler() {
            @Override
            public void onIdle() {
                if (completions.get() > 0) {
                    throw new IllegalStateException("idle " + calls.incrementAndGet());
                }
            }

            @Override
            public void onShutdown() {
                heard.add("ended");
            }
        };
        final PipelineBuilder description = Pipeline.builder().withoutCountersFile().queue(queue)
            .onAll(failing, options -> options.idleTimeoutNs(TIMEOUT_NS).failurePolicy((failure, sequence) -> {
                heard.add(failure.getMessage() + " after " + sequence);
                return calls.get() < 2 ? FailurePolicy.Decision.CONTINUE : FailurePolicy.Decision.HALT;
            })).onFailure((of, threadName, failure) -> failed.countDown());
        queue.add(7, WcStatus.SUCCESS, WcOpcode.SEND);
        try (Pipeline pipeline = (runsToCompletion ? description.runToCompletion() : description).start()) {
            assertTrue(failed.await(20, TimeUnit.SECONDS));
            assertEquals(2, pipeline.handlerExceptions());
            assertEquals("idle 2", pipeline.failure().getMessage());
        }
        assertEquals(List.of("idle 1 after 0", "idle 2 after 0", "ended"), heard);
    }

    @Test
    void shouldCallAHandlerWhoseOwnWaitStrategyTimesOut() throws InterruptedException {
        final Idler idler = new Idler();
        try (Pipeline pipeline = Pipeline.builder().withoutCountersFile().queue(queue).onAll(idler,
                options -> options.waitStrategy(new TimeoutBlockingWaitStrategy(1, TimeUnit.MILLISECONDS))).start()) {
            assertTrue(idler.thrice.await(20, TimeUnit.SECONDS));
            assertSame(pipeline.handlerThreads().getFirst(), idler.thread.get());
        }
    }

    @Test
    void shouldEndAWaitWhenTheTimeHasPassedAndNotBefore() throws Exception {
        final CachedNanoClock clock = new CachedNanoClock();
        final Sequence cursor = new Sequence(-1);
        final AtomicInteger parks = new AtomicInteger();
        final HandlerConfig config = new HandlerConfig("handler", EnumSet.allOf(CompletionPath.class), new Idler(), false,
            List.of(), WaitMode.SLEEP, null, FailurePolicy.HALT, Pinning.ANY_CPU, 1, 0, 100);
        final IdleBarrier barrier = new IdleBarrier(cursor, cursor, new WaitStrategy() {
            @Override
            public long waitFor(final long sequence, final Sequence published, final Sequence dependent,
                final SequenceBarrier waiting) throws AlertException {
                while (dependent.get() < sequence) {
                    waiting.checkAlert();
                    parks.incrementAndGet();
                    clock.advance(30);
                }
                return dependent.get();
            }

            @Override
            public void signalAllWhenBlocking() {
                parks.addAndGet(0);
            }
        }, config, clock);
        assertThrows(TimeoutException.class, () -> barrier.waitFor(0));
        assertEquals(4, parks.get(), "at 0, 30, 60 and 90; not at 120");
        assertThrows(TimeoutException.class, () -> barrier.waitFor(0));
        assertEquals(8, parks.get());
        cursor.set(3);
        clock.advance(1000);
        assertEquals(3, barrier.waitFor(2));
        barrier.alert();
        assertThrows(AlertException.class, () -> barrier.waitFor(4));
        assertTrue(barrier.isAlerted());
    }

    @Test
    void shouldRefuseATimeoutThatHasNoMeaning() {
        final PipelineBuilder description = Pipeline.builder()
            .onAll(new Idler(), options -> options.name("a").idleTimeoutNs(-1))
            .onAll(new Idler(), options -> options.name("b").idleTimeoutNs(1)
                .waitStrategy(new TimeoutBlockingWaitStrategy(1, TimeUnit.MILLISECONDS)));
        assertEquals("""
            handler a: idleTimeoutNs -1 is negative
            handler b has an idle time-out and a wait strategy of its own: set the time-out of that strategy""",
            assertThrows(IllegalArgumentException.class, description::start).getMessage());
        assertFalse(queue.size() > 0);
    }
}
