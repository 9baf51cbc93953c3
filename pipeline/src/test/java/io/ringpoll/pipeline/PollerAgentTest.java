package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.PollerCounterSet;
import io.ringpoll.internal.poller.SlotRing;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import java.util.function.IntSupplier;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The poller as an agent on threads of the user. */
@Timeout(60)
class PollerAgentTest {
    /** Longer than the tests' time limit: a wait that uses it up is a failure. */
    private static final long BOUND_NS = TimeUnit.MINUTES.toNanos(5);
    private static final long SHORT_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final Recorder all = new Recorder();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldPollOnTheRunnersThreadUntilTheRunnerIsClosed(final boolean runsToCompletion) throws Exception {
        final AtomicReference<Thread> handling = new AtomicReference<>();
        final CompletionHandler handler = (wc, sequence, endOfBatch) -> handling.set(Thread.currentThread());
        final Pipeline pipeline = start(runsToCompletion, handler);
        final AgentRunner runner = run(pipeline.agent());
        final Thread thread = AgentRunner.startOnThread(runner);
        add(3);
        while (pipeline.pollerThread() == null) {
            Thread.onSpinWait();
        }
        assertTrue(pipeline.drain(BOUND_NS).inTime());
        assertSame(thread, pipeline.pollerThread());
        assertSame(runsToCompletion ? thread : pipeline.handlerThreads().getFirst(), handling.get());
        runner.close();
        add(2);
        assertEquals("other cannot be added: the poller has ended", refusal(pipeline, new ScriptedQueue("other")));
        assertThrows(RejectedExecutionException.class, () -> pipeline.execute(() -> { }));
        assertFalse(pipeline.drain(BOUND_NS).inTime(), "nothing is polled any more");
        assertEquals(new PipelineReport(3, 3, 0, 2, true), pipeline.close(BOUND_NS));
        assertEquals(List.of(), errors);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDoNoMoreWorkAfterTheCloseOfThePipeline(final boolean runsToCompletion) throws Exception {
        final Pipeline pipeline = start(runsToCompletion, all);
        final Agent other = agent(() -> 1);
        final CompositeAgent both = new CompositeAgent(pipeline.agent(), other);
        try (AgentRunner runner = run(both)) {
            AgentRunner.startOnThread(runner);
            add(3);
            all.awaitSize(3);
            assertEquals(new PipelineReport(3, 3, 0, 0, true), pipeline.close(BOUND_NS));
            assertEquals(0, pipeline.agent().doWork());
            assertFalse(runner.isClosed());
        }
        pipeline.agent().onClose();
        assertEquals(PipelineState.CLOSED, pipeline.state());
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldReturnZeroToAnyNumberOfThreadsAfterTheClose() throws Exception {
        final Pipeline pipeline = start(true, all);
        invoker(pipeline);
        pipeline.close();
        final CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> workOften(pipeline));
        assertEquals(0, workOften(pipeline));
        assertEquals(0, other.get());
    }

    @Test
    void shouldReturnTheWorkCount() {
        final Pipeline pipeline = start(true, all);
        try (AgentInvoker invoker = invoker(pipeline)) {
            assertEquals("ringpoll-poller", pipeline.agent().roleName());
            assertEquals(0, invoker.invoke());
            add(5);
            assertEquals(5, invoker.invoke());
            assertEquals(List.of(0L, 1L, 2L, 3L, 4L), all.ids);
        }
        assertTrue(pipeline.close(BOUND_NS).inTime());
    }

    @Test
    void shouldCountThePollsBeforeACommandOfTheInvokingThread() {
        final Pipeline pipeline = start(true, all);
        try (AgentInvoker invoker = invoker(pipeline)) {
            invoker.invoke();
            add(3);
            assertEquals(3, invoker.invoke());
            assertTrue(pipeline.pause(BOUND_NS));
            assertEquals(2, pipeline.pollerCounters().polls());
            assertEquals(1, pipeline.pollerCounters().emptyPolls());
        }
        pipeline.close(BOUND_NS);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldMakeTheDutyCyclesOfAWaitOnTheInvokingThread(final boolean runsToCompletion) throws TimeoutException {
        final Pipeline pipeline = start(runsToCompletion, all);
        final AgentInvoker invoker = invoker(pipeline);
        final ScriptedQueue other = new ScriptedQueue("other");
        pipeline.addQueue(other);
        add(100);
        assertEquals(new PipelineReport(100, 100, 0, PipelineReport.UNKNOWN, true), pipeline.drain(BOUND_NS));
        assertTrue(pipeline.removeQueue(other, BOUND_NS));
        assertTrue(pipeline.pause(BOUND_NS));
        add(1);
        assertEquals(0, invoker.invoke());
        assertTrue(pipeline.drain(BOUND_NS).inTime(), "paused: only the handlers are waited for");
        assertTrue(pipeline.resume(BOUND_NS));
        add(50);
        assertEquals(new PipelineReport(151, 151, 0, 0, true), pipeline.close(BOUND_NS));
        assertEquals(0, invoker.invoke());
        invoker.close();
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldBoundTheWaitsOfOtherThreadsForAnAgentThatNobodyInvokes() throws Exception {
        final CountDownLatch ended = new CountDownLatch(1);
        final Pipeline pipeline = start(true, new Recorder() {
            @Override
            public void onShutdown() {
                ended.countDown();
            }
        });
        final AgentInvoker invoker = invoker(pipeline);
        final AtomicInteger executed = new AtomicInteger();
        final Thread me = Thread.currentThread();
        elsewhere(() -> {
            assertTrue(pipeline.execute(executed::incrementAndGet));
            assertEquals(0, executed.get());
            assertEquals("the poller did not remove queue within 50 ms: " +
                "agent ringpoll-poller was not invoked in this time, and last by thread " + me.getName(),
                assertThrows(TimeoutException.class, () -> pipeline.removeQueue(queue, SHORT_NS)).getMessage());
            assertFalse(pipeline.pause(SHORT_NS));
            assertFalse(pipeline.drain(SHORT_NS).inTime());
            return null;
        });
        // The pause and the removal are executed now.
        assertEquals(0, invoker.invoke());
        assertEquals(1, executed.get());
        elsewhere(() -> {
            assertTrue(pipeline.execute(executed::incrementAndGet));
            // As long as it is unknown whether somebody will invoke the agent.
            assertTrue(pipeline.stop(TimeUnit.SECONDS.toNanos(40)).inTime());
            return null;
        });
        assertEquals(2, executed.get());
        assertTrue(ended.await(0, TimeUnit.SECONDS));
        assertEquals(0, invoker.invoke());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldDrainAndEndThePollerOnTheClosingThreadAfterTheEndOfTheInvokingThread(final boolean runsToCompletion)
        throws Exception {
        final Pipeline pipeline = start(runsToCompletion, all);
        final ScriptedQueue other = new ScriptedQueue("other");
        final Thread invoking = elsewhere(() -> {
            invoker(pipeline);
            pipeline.addQueue(other);
            return Thread.currentThread();
        });
        invoking.join();
        add(100);
        assertEquals("the poller did not remove other within 0 ns: agent ringpoll-poller was not invoked in this time, " +
            "and last by thread " + invoking.getName() + ", which has ended",
            assertThrows(TimeoutException.class, () -> pipeline.removeQueue(other, 0)).getMessage());
        assertEquals(new PipelineReport(100, 100, 0, 0, true), pipeline.close(BOUND_NS));
        assertSame(Thread.currentThread(), pipeline.pollerThread());
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldNameTheThreadOfALongDutyCycleThatDelaysARemoval() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = start(true, (wc, sequence, endOfBatch) -> {
            entered.countDown();
            release.await();
        });
        add(1);
        final AtomicReference<Thread> invoking = new AtomicReference<>();
        final CompletableFuture<Integer> invoked = CompletableFuture.supplyAsync(() -> {
            invoking.set(Thread.currentThread());
            pipeline.agent().onStart();
            return work(pipeline);
        });
        entered.await();
        assertEquals("the poller did not remove queue within 50 ms: agent ringpoll-poller is in a duty cycle of thread " +
            invoking.get().getName(),
            assertThrows(TimeoutException.class, () -> pipeline.removeQueue(queue, SHORT_NS)).getMessage());
        release.countDown();
        assertEquals(1, invoked.get());
        pipeline.agent().onClose();
        assertTrue(pipeline.close(BOUND_NS).inTime());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldCloseWithoutDelayBeforeTheStart(final boolean runsToCompletion) {
        final Pipeline pipeline = start(runsToCompletion, all);
        final AtomicInteger executed = new AtomicInteger();
        assertNull(pipeline.pollerThread());
        assertTrue(pipeline.execute(executed::incrementAndGet));
        add(2);
        assertFalse(pipeline.drain(SHORT_NS).inTime());
        assertEquals(new PipelineReport(0, 0, 0, 2, true), pipeline.close(BOUND_NS));
        assertEquals(1, executed.get());
        assertEquals("agent ringpoll-poller cannot be started: it has ended, or its pipeline is closed",
            assertThrows(IllegalStateException.class, pipeline.agent()::onStart).getMessage());
    }

    @Test
    void shouldRefuseASecondInvokingThreadDuringADutyCycle() throws Exception {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch release = new CountDownLatch(1);
        final Pipeline pipeline = start(true, (wc, sequence, endOfBatch) -> {
            entered.countDown();
            release.await();
        });
        final AtomicReference<String> first = new AtomicReference<>();
        final CompletableFuture<Integer> invoking = CompletableFuture.supplyAsync(() -> {
            first.set(Thread.currentThread().getName());
            pipeline.agent().onStart();
            add(1);
            return work(pipeline);
        });
        entered.await();
        final String me = Thread.currentThread().getName();
        final String refused = " by thread " + me + " during the duty cycle of thread " + first.get() +
            ": one thread at a time invokes an agent";
        assertEquals("agent ringpoll-poller cannot be invoked" + refused,
            assertThrows(IllegalStateException.class, () -> pipeline.agent().doWork()).getMessage());
        assertEquals("agent ringpoll-poller cannot be started" + refused,
            assertThrows(IllegalStateException.class, pipeline.agent()::onStart).getMessage());
        assertEquals("agent ringpoll-poller cannot be closed" + refused,
            assertThrows(IllegalStateException.class, pipeline.agent()::onClose).getMessage());
        assertFalse(pipeline.stop(0).inTime());
        release.countDown();
        assertEquals(1, invoking.get());
        assertEquals(0, pipeline.agent().doWork());
        assertTrue(pipeline.failure() == null);
    }

    @Test
    void shouldRefuseItsOwnDutyCycleAndEndAfterItWhenAHandlerClosesTheAgent() throws TimeoutException {
        final AtomicReference<Agent> agent = new AtomicReference<>();
        final AtomicReference<Pipeline> of = new AtomicReference<>();
        final AtomicReference<PipelineReport> drained = new AtomicReference<>();
        final Pipeline pipeline = start(true, (wc, sequence, endOfBatch) -> {
            drained.set(of.get().drain(BOUND_NS));
            of.get().removeQueue(queue);
            agent.get().onClose();
            agent.get().doWork();
        });
        agent.set(pipeline.agent());
        of.set(pipeline);
        try (AgentInvoker invoker = invoker(pipeline)) {
            add(1);
            assertEquals(1, invoker.invoke());
            assertEquals(0, invoker.invoke());
        }
        assertFalse(drained.get().inTime());
        final List<String> recorded = new ArrayList<>();
        pipeline.readErrors(recorded::add);
        assertTrue(recorded.getFirst().contains("agent ringpoll-poller cannot be invoked in its own duty cycle, by a handler " +
            "or task on thread " + Thread.currentThread().getName()), recorded::toString);
        assertEquals(new PipelineReport(1, 1, 0, 0, true), pipeline.close(BOUND_NS));
    }

    @Test
    void shouldCloseThePipelineElsewhereWhenAHandlerOnTheInvokingThreadDoes() {
        final AtomicReference<Pipeline> of = new AtomicReference<>();
        final Pipeline pipeline = start(true, (wc, sequence, endOfBatch) -> of.get().close(BOUND_NS));
        of.set(pipeline);
        final AgentInvoker invoker = invoker(pipeline);
        add(1);
        assertEquals(1, invoker.invoke());
        while (pipeline.state() != PipelineState.CLOSED) {
            invoker.invoke();
        }
        assertEquals(new PipelineReport(1, 1, 0, 0, true), pipeline.close(0));
        assertEquals(List.of(), errors);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @Tag(TestDevice.TAG)
    void shouldTakeOverTheQueuesWhenTheInvokingThreadChanges(final boolean runsToCompletion) throws Exception {
        final int rounds = 200;
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); ExecutorService threads = Executors.newFixedThreadPool(3)) {
            final Pipeline pipeline = start(runsToCompletion, all);
            pipeline.agent().onStart();
            pipeline.addQueue(pair.client().completionQueue());
            pipeline.addQueue(pair.server().completionQueue());
            for (int i = 0; i < rounds; i++) {
                assertTrue(pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, i));
                final long before = pipeline.pollerCounters().completions();
                // On a thread that has polled an earlier one.
                threads.submit(() -> {
                    while (pipeline.agent().doWork() == 0) {
                        assertEquals(0, pipeline.pollerCounters().queueFaults(), "a poll with the lease of another thread");
                    }
                    return null;
                }).get();
                assertEquals(before + 1, pipeline.pollerCounters().completions());
                if (i % 7 == 0) {
                    // The former thread submits a command; the next one executes it.
                    pipeline.addQueue(elsewhere(() -> {
                        pipeline.agent().doWork();
                        return new ScriptedQueue("another");
                    }));
                }
            }
            pipeline.agent().doWork();
            assertSame(Thread.currentThread(), pipeline.pollerThread());
            assertEquals(new PipelineReport(rounds, rounds, 0, 0, true), pipeline.close(BOUND_NS));
        }
    }

    @Test
    void shouldInvokeAndStartInOrder() {
        final Pipeline pipeline = start(true, all);
        assertEquals("agent ringpoll-poller has not been started: " +
            "AgentRunner and AgentInvoker.start() call onStart before doWork",
            assertThrows(IllegalStateException.class, () -> pipeline.agent().doWork()).getMessage());
        pipeline.agent().onStart();
        assertEquals("agent ringpoll-poller cannot be started: it has been started before",
            assertThrows(IllegalStateException.class, pipeline.agent()::onStart).getMessage());
        add(1);
        assertEquals(1, work(pipeline));
        pipeline.agent().onClose();
        pipeline.agent().onClose();
        assertEquals(0, work(pipeline));
        assertTrue(pipeline.close(BOUND_NS).inTime());
    }

    @Test
    void shouldHaltIfAHandlerDoesNotStart() {
        final List<String> heard = new CopyOnWriteArrayList<>();
        final Pipeline pipeline = Pipeline.builder().asAgent().runToCompletion().withoutCountersFile()
            .onAll(new CompletionHandler() {
                @Override
                public void onStart(final SlotControl slots) {
                    throw new IllegalStateException("unwilling");
                }

                @Override
                public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
                    heard.add("completion");
                }
            }, options -> options.name("handler")).onFailure((of, thread, failure) -> heard.add(failure.getMessage())).start();
        try (AgentInvoker invoker = new AgentInvoker(errors::add, null, pipeline.agent())) {
            invoker.start();
            assertEquals(0, invoker.invoke());
        }
        assertEquals(List.of("handler handler did not start: unwilling"), heard);
        assertEquals(heard.getFirst(), errors.getFirst().getMessage());
        assertEquals(PipelineState.HALTED, pipeline.state());
        assertNotNull(pipeline.failure());
        assertFalse(pipeline.drain(BOUND_NS).inTime());
        pipeline.close(BOUND_NS);
        assertEquals(PipelineState.CLOSED, pipeline.state());
    }

    @Test
    void shouldPassAnExceptionOfTheDutyCycleToTheUserOnce() {
        final CompletionSlab slab = new CompletionSlab(64);
        final SlotRing broken = (SlotRing) Proxy.newProxyInstance(SlotRing.class.getClassLoader(),
            new Class<?>[] {SlotRing.class}, (proxy, method, arguments) -> switch (method.getName()) {
                case "slab" -> slab.buffer();
                case "isHalted" -> false;
                default -> throw new IllegalStateException("the ring is broken");
            });
        final CountersManager counters = new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(512 * 1024)), new UnsafeBuffer(ByteBuffer.allocateDirect(128 * 1024)));
        final CompletionPoller poller = new CompletionPoller("poller", broken, 1, new PollerCounterSet(counters, "poller"));
        poller.queues().add(queue);
        final List<String> called = new ArrayList<>();
        final Handlers handlers = (Handlers) Proxy.newProxyInstance(Handlers.class.getClassLoader(),
            new Class<?>[] {Handlers.class}, (proxy, method, arguments) -> {
                called.add(method.getName());
                return null;
            });
        final PollerAgent agent = new PollerAgent(poller, handlers, null, null, slab, errors::add);
        agent.start();
        agent.onStart();
        assertEquals("the ring is broken", assertThrows(IllegalStateException.class, agent::doWork).getMessage());
        assertEquals(List.of("the ring is broken"), errors.stream().map(Throwable::getMessage).toList());
        assertEquals(0, agent.doWork());
        agent.onClose();
        assertEquals(List.of("onPollerStart", "onPollerEnd"), called);
        assertFalse(agent.isAlive());
        slab.release();
    }

    @Test
    void shouldRefuseACpuOfThePollingThread() {
        final PipelineBuilder description = Pipeline.builder().asAgent().pollerCpu(0).onAll(all);
        assertEquals("the poller has a CPU, but is an agent: pin the thread that invokes it",
            assertThrows(IllegalArgumentException.class, description::start).getMessage());
        try (Pipeline threaded = Pipeline.builder().withoutCountersFile().onAll(all).start()) {
            final String reason = "pipeline ringpoll has a polling thread: asAgent() of its builder makes the poller an agent";
            assertEquals(reason, assertThrows(IllegalStateException.class, threaded::agent).getMessage());
            assertEquals(reason, assertThrows(IllegalStateException.class, threaded::agentIdleStrategy).getMessage());
        }
    }

    @Test
    void shouldHaveTheIdleStrategyThatWasSet() {
        try (Pipeline without = start(true, all)) {
            assertEquals("pipeline ringpoll has no idle strategy: set idleStrategy() of its builder",
                assertThrows(IllegalStateException.class, without::agentIdleStrategy).getMessage());
        }
        final List<Integer> idled = new ArrayList<>();
        final IdleStrategy own = idleStrategy(idled::add);
        final Pipeline pipeline = start(own);
        final IdleStrategy idle = pipeline.agentIdleStrategy();
        assertSame(idle, pipeline.agentIdleStrategy());
        // Nobody has invoked the agent yet.
        idle.idle(0);
        final AgentInvoker invoker = invoker(pipeline);
        add(3);
        idle.idle(invoker.invoke());
        idle.idle(invoker.invoke());
        idle.idle();
        idle.reset();
        assertEquals("of agent ringpoll-poller", idle.alias());
        // Another thread has not made the latest duty cycle.
        CompletableFuture.runAsync(idle::idle).join();
        pipeline.close(BOUND_NS);
        // The runner continues after the end.
        idle.idle(0);
        assertEquals(List.of(3, 0, 0), idled);
    }

    @Test
    void shouldHaltWhenTheIdleStrategyThrows() {
        final IdleStrategy broken = idleStrategy(workCount -> {
            throw new IllegalStateException("broken");
        });
        final Pipeline pipeline = start(broken);
        final AgentInvoker invoker = invoker(pipeline);
        invoker.invoke();
        assertEquals("broken", assertThrows(IllegalStateException.class, pipeline.agentIdleStrategy()::idle).getMessage());
        assertEquals(PipelineState.HALTED, pipeline.state());
        assertEquals("broken", pipeline.failure().getMessage());
        pipeline.close(BOUND_NS);
    }

    /** An {@code AgentRunner} ends when its thread is interrupted. */
    @Test
    void shouldLeaveAnInterruptToTheInvokingThread() {
        final Pipeline pipeline = start(idleStrategy(workCount -> { }));
        final AgentInvoker invoker = invoker(pipeline);
        for (int round = 0; round < 2; round++) {
            invoker.invoke();
            Thread.currentThread().interrupt();
            pipeline.agentIdleStrategy().idle(0);
            assertTrue(Thread.interrupted());
            // The strategy is not called while the pipeline is paused.
            assertTrue(pipeline.pause(BOUND_NS));
        }
        pipeline.close(BOUND_NS);
    }

    @Test
    void shouldEndWhenTheAgentIsClosedWhileItIdles() {
        final AtomicReference<PollerAgent> agent = new AtomicReference<>();
        final Pipeline pipeline = start(idleStrategy(workCount -> agent.get().onClose()));
        agent.set((PollerAgent) pipeline.agent());
        final AgentInvoker invoker = invoker(pipeline);
        invoker.invoke();
        assertTrue(agent.get().isAlive());
        pipeline.agentIdleStrategy().idle(0);
        assertFalse(agent.get().isAlive());
        pipeline.close(BOUND_NS);
    }

    @Test
    void shouldPinTheHandlersOnly() {
        final List<String> candidates = new ArrayList<>();
        final PipelineBuilder description = Pipeline.builder().name("p").asAgent().withoutCountersFile().onAll(all)
            .pin((threads, taken) -> {
                threads.forEach(thread -> candidates.add(thread.name()));
                return Map.of();
            });
        description.start().close();
        assertEquals(List.of("p-all"), candidates);
    }

    private static IdleStrategy idleStrategy(final IntConsumer idle) {
        return new IdleStrategy() {
            @Override
            public void idle(final int workCount) {
                idle.accept(workCount);
            }

            @Override
            public void idle() {
                idle.accept(0);
            }

            @Override
            public void reset() {
                // Nothing to reset.
            }
        };
    }

    private Pipeline start(final IdleStrategy idle) {
        return Pipeline.builder().asAgent().withoutCountersFile().runToCompletion().onAll(all).queue(queue).idleStrategy(idle)
            .start();
    }

    private Pipeline start(final boolean runsToCompletion, final CompletionHandler handler) {
        final PipelineBuilder description = Pipeline.builder().asAgent().withoutCountersFile().onAll(handler).queue(queue);
        return (runsToCompletion ? description.runToCompletion() : description).start();
    }

    private AgentRunner run(final Agent agent) {
        return new AgentRunner(YieldingIdleStrategy.INSTANCE, errors::add, null, agent);
    }

    /** Starts the agent on the calling thread. */
    private AgentInvoker invoker(final Pipeline pipeline) {
        final AgentInvoker invoker = new AgentInvoker(errors::add, null, pipeline.agent());
        invoker.start();
        return invoker;
    }

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }

    private static int work(final Pipeline pipeline) {
        try {
            return pipeline.agent().doWork();
        } catch (final Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    /** Invokes until another thread has had time to do so at the same moment; returns the work count. */
    private static int workOften(final Pipeline pipeline) {
        int workCount = 0;
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < SHORT_NS) {
            workCount += work(pipeline);
        }
        return workCount;
    }

    private static String refusal(final Pipeline pipeline, final ScriptedQueue added) {
        return assertThrows(IllegalStateException.class, () -> pipeline.addQueue(added)).getMessage();
    }

    private static <T> T elsewhere(final Callable<T> call) throws Exception {
        try (ExecutorService thread = Executors.newSingleThreadExecutor()) {
            return thread.submit(call).get();
        }
    }

    private static Agent agent(final IntSupplier work) {
        return new Agent() {
            @Override
            public int doWork() {
                return work.getAsInt();
            }

            @Override
            public String roleName() {
                return "of the user";
            }
        };
    }
}
