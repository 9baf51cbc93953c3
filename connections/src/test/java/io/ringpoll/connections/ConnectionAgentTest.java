package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.pipeline.InvokedAgent;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.net.ConnectException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Sets with pollers that are agents on threads of the test. */
@Timeout(60)
@Tag(TestDevice.TAG)
class ConnectionAgentTest {
    /** Longer than the tests' time limit: a wait that uses it up is a failure. */
    private static final long BOUND_NS = TimeUnit.MINUTES.toNanos(5);
    private static final UnsafeBuffer MESSAGE = new UnsafeBuffer("m".getBytes());

    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();
    private final List<Throwable> errors = new CopyOnWriteArrayList<>();

    /** Refuses its first message, and does something when the message is passed again by {@link MessageConnection#resume}. */
    private static final class Refusing extends Recorder {
        private final AtomicReference<MessageConnection> refused = new AtomicReference<>();
        private final Resumed action;

        private Refusing(final Resumed action) {
            this.action = action;
        }

        /** Within the callback that {@link MessageConnection#resume} makes. */
        @FunctionalInterface
        interface Resumed {
            void run(MessageConnection connection) throws InterruptedException;
        }

        @Override
        public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
            final int length) throws InterruptedException {
            if (refused.getAndSet(connection) == null) {
                return false;
            }
            action.run(connection);
            add("returns");
            return true;
        }

        boolean hasRefused() {
            return refused.get() != null;
        }

        /** The connection of the refused message. */
        MessageConnection connection() {
            return refused.get();
        }
    }

    /** Sends each message back, and remembers the thread. */
    private static final class Echo extends Recorder {
        private Thread thread;

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            thread = Thread.currentThread();
            return connection.trySend(buffer, offset, length);
        }
    }

    @Test
    void shouldServeOnTheThreadThatInvokes() throws Exception {
        final Echo echo = new Echo();
        final AtomicInteger answers = new AtomicInteger();
        final ConnectionListener asking = new ConnectionListener() {
            @Override
            public void onConnected(final MessageConnection connection) {
                assertTrue(connection.trySend(MESSAGE, 0, 1));
            }

            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                answers.incrementAndGet();
                return connection.trySend(MESSAGE, 0, 1);
            }

            @Override
            public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
                client.onDisconnected(connection, reason);
            }
        };
        try (ConnectionSet set = agentSet().listener(echo).start();
            ConnectionSet clients = SetPair.builder().listener(asking).start();
            AgentInvoker invoker = invoker(set)) {
            clients.connect(TestDevice.address(), set.listen(0));
            invokeUntil(invoker, () -> answers.get() >= 1000);
            assertSame(Thread.currentThread(), echo.thread);
            assertSame(Thread.currentThread(), set.pipelines().getFirst().pollerThread());
            assertTrue(set.close(BOUND_NS));
            assertEquals(0, invoker.invoke());
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
        }
        assertEquals(List.of("connected", "disconnected CLOSED"), echo.all);
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldConnectAndSendAndCloseOnTheThreadThatInvokes() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start();
            ConnectionSet clients = agentSet().listener(client).start();
            AgentInvoker invoker = invoker(clients)) {
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0), BOUND_NS);
            assertEquals("connected", client.await("connected"));
            assertTrue(connection.trySend(MESSAGE, 0, 1), "between two duty cycles");
            assertEquals("message m", server.await("message"));
            connection.close();
            invokeUntil(invoker, () -> client.all.contains("disconnected CLOSED"));
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldEndInOrderWhenTheRunnerIsClosed() throws Exception {
        final ConnectionSet set = agentSet().listener(server).start();
        final AtomicInteger cycles = new AtomicInteger();
        final Agent logic = new Agent() {
            @Override
            public int doWork() {
                cycles.incrementAndGet();
                return 0;
            }

            @Override
            public String roleName() {
                return "logic";
            }
        };
        try (ConnectionSet clients = SetPair.builder().listener(client).start()) {
            final AgentRunner runner = new AgentRunner(
                new YieldingIdleStrategy(), errors::add, null, new CompositeAgent(set.agents().getFirst(), logic));
            AgentRunner.startOnThread(runner);
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0));
            connection.execute(() -> connection.trySend(MESSAGE, 0, 1));
            assertEquals("message m", server.await("message"));
            runner.close();
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
            assertTrue(cycles.get() > 0);
            assertTrue(set.close(0), "the runner has closed it");
        }
        assertEquals("disconnected CLOSED", server.all.getLast());
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldEndInOrderWhileAnotherThreadInvokes() throws Exception {
        final ConnectionSet set = agentSet().listener(server).start();
        try (ConnectionSet clients = SetPair.builder().listener(client).start();
            AgentRunner runner = new AgentRunner(new YieldingIdleStrategy(), errors::add, null, set.agents().getFirst())) {
            AgentRunner.startOnThread(runner);
            clients.connect(TestDevice.address(), set.listen(0));
            assertTrue(set.close(BOUND_NS));
            assertEquals(0, set.agents().getFirst().doWork());
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldCloseForALoopThatEndsWhenTheCloseBegins() throws Exception {
        try (ConnectionSet set = agentSet().listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).start();
            AgentInvoker invoker = invoker(set)) {
            clients.connect(TestDevice.address(), set.listen(0));
            invokeUntil(invoker, () -> server.all.contains("connected"));
            final CompletableFuture<Boolean> closed = CompletableFuture.supplyAsync(() -> set.close(BOUND_NS));
            invokeUntil(invoker, set::isClosed);
            set.awaitClose();
            assertTrue(closed.get());
        }
        assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
    }

    @Test
    void shouldCloseFromACallback() throws Exception {
        final AtomicReference<ConnectionSet> set = new AtomicReference<>();
        final Recorder closing = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                set.get().agents().getFirst().onClose();
                assertThrows(IllegalStateException.class, set.get()::awaitClose);
                assertThrows(IllegalStateException.class, () -> set.get().connect("127.0.0.1", 1));
                return true;
            }
        };
        try (ConnectionSet clients = SetPair.builder().listener(client).start()) {
            set.set(agentSet().listener(closing).start());
            final AgentInvoker invoker = invoker(set.get());
            final MessageConnection connection = clients.connect(TestDevice.address(), set.get().listen(0));
            connection.execute(() -> connection.trySend(MESSAGE, 0, 1));
            invokeUntil(invoker, () -> closing.all.contains("disconnected CLOSED"));
            assertTrue(set.get().close(BOUND_NS));
            assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldNotWaitInACallbackThatIsMadeByResume() throws Exception {
        final AtomicReference<ConnectionSet> set = new AtomicReference<>();
        final Refusing refusing = new Refusing(connection -> assertFalse(set.get().close(BOUND_NS)));
        try (ConnectionSet clients = SetPair.builder().listener(client).start()) {
            set.set(agentSet().listener(refusing).start());
            final AgentInvoker invoker = invoker(set.get());
            sendOne(clients.connect(TestDevice.address(), set.get().listen(0)));
            invokeUntil(invoker, refusing::hasRefused);
            refusing.connection().resume();
            assertEquals(List.of("connected", "returns"), refusing.all);
            assertTrue(set.get().close(BOUND_NS));
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldNameTheThreadsOfAWrongSend() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start();
            ConnectionSet clients = agentSet().listener(client).start()) {
            final AgentRunner runner =
                new AgentRunner(new YieldingIdleStrategy(), errors::add, null, clients.agents().getFirst());
            final Thread thread = AgentRunner.startOnThread(runner);
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0));
            final String message =
                assertThrows(IllegalStateException.class, () -> connection.trySend(MESSAGE, 0, 1)).getMessage();
            assertTrue(message.contains("belongs to thread " + thread.getName() + ", not to " + Thread.currentThread().getName()),
                message);
            runner.close();
            assertFalse(connection.trySend(MESSAGE, 0, 1), "its set is closed");
        }
    }

    @Test
    void shouldFollowTheThreadThatInvokes() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start();
            ConnectionSet clients = agentSet().listener(client).start()) {
            final AgentInvoker invoker = invoker(clients);
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0), BOUND_NS);
            CompletableFuture.runAsync(() -> {
                invoker.invoke();
                assertTrue(connection.trySend(MESSAGE, 0, 1));
            }).get();
            assertEquals("message m", server.await("message"));
            assertThrows(IllegalStateException.class, () -> connection.trySend(MESSAGE, 0, 1));
            invoker.invoke();
            assertTrue(connection.trySend(MESSAGE, 0, 1));
        }
    }

    @Test
    void shouldEndInOrderAfterTheEndOfTheInvokingThread() throws Exception {
        try (ConnectionSet clients = SetPair.builder().listener(client).start();
            ConnectionSet set = agentSet().listener(server).start()) {
            final Thread thread = Thread.ofPlatform().start(() -> {
                try (AgentInvoker invoker = new AgentInvoker(errors::add, null, raw(set))) {
                    invoker.start();
                    invokeUntil(invoker, () -> server.all.contains("connected"));
                }
            });
            clients.connect(TestDevice.address(), set.listen(0));
            thread.join();
            assertTrue(set.close(BOUND_NS));
        }
        assertEquals("disconnected PEER_CLOSED", client.await("disconnected"));
        assertEquals(List.of(), errors);
    }

    /** An agent that ignores its close. */
    private static Agent raw(final ConnectionSet set) {
        final Agent agent = set.agents().getFirst();
        return new Agent() {
            @Override
            public void onStart() {
                agent.onStart();
            }

            @Override
            public int doWork() throws Exception {
                return agent.doWork();
            }

            @Override
            public String roleName() {
                return agent.roleName();
            }
        };
    }

    @Test
    void shouldCloseItselfWhenItsPipelinesAgentHasEnded() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start();
            ConnectionSet clients = agentSet().listener(client).start()) {
            invoker(clients);
            final int port = set.listen(0);
            clients.connect(TestDevice.address(), port, BOUND_NS);
            clients.pipelines().getFirst().agent().onClose();
            final String message =
                assertThrows(IllegalStateException.class, () -> clients.connect(TestDevice.address(), port)).getMessage();
            assertTrue(message.contains("no longer polled: the agent has ended"), message);
            clients.awaitClose();
            assertEquals("disconnected FAILED", client.await("disconnected"));
        }
    }

    @Test
    void shouldNameAnAgentThatWasNotStartedAndCloseWithoutIt() throws Exception {
        try (ConnectionSet set = SetPair.builder().listener(server).start();
            ConnectionSet clients = agentSet().listener(client).start()) {
            final int port = set.listen(0);
            final String message = assertThrows(ConnectException.class,
                () -> clients.connect(TestDevice.address(), port, TimeUnit.MILLISECONDS.toNanos(300))).getMessage();
            assertTrue(message.contains(": agent ") && message.contains(" has not been started"), message);
            assertTrue(clients.close(BOUND_NS));
        }
        assertEquals(List.of(), client.all);
    }

    @Test
    void shouldSpreadConnectionsOverSeveralAgents() throws Exception {
        try (ConnectionSet set = agentSet().pollers(2).listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).start();
            AgentInvoker invoker = new AgentInvoker(errors::add, null, new CompositeAgent(set.agents()))) {
            invoker.start();
            final int port = set.listen(0);
            for (int i = 0; i < 4; i++) {
                clients.connect(TestDevice.address(), port);
            }
            invokeUntil(invoker, () -> server.all.size() == 4);
            for (final Pipeline pipeline : set.pipelines()) {
                assertEquals(2, pipeline.counters().sum("queues"));
            }
        }
        assertEquals(8, server.all.size());
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldEndSoonWhenACallbackClosesTheInvoker() throws Exception {
        final AtomicReference<AgentInvoker> invoker = new AtomicReference<>();
        final Recorder closing = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                invoker.get().close();
                return true;
            }
        };
        try (ConnectionSet set = agentSet().listener(closing).start();
            ConnectionSet clients = SetPair.builder().listener(client).start()) {
            invoker.set(invoker(set));
            sendOne(clients.connect(TestDevice.address(), set.listen(0)));
            invokeUntil(invoker.get(), invoker.get()::isClosed);
            // On another thread: this one would make the duty cycles.
            assertEndsSoon(() -> CompletableFuture.runAsync(set::awaitClose).join());
            assertTrue(set.close(0));
        }
        assertEquals("disconnected CLOSED", closing.all.getLast());
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldEndSoonWhenAnotherThreadClosesTheInvokerDuringALongCallback() throws Exception {
        final CountDownLatch called = new CountDownLatch(1);
        final Recorder slow = new Recorder() {
            @Override
            public boolean onMessage(final MessageConnection connection, final DirectBuffer buffer, final int offset,
                final int length) throws InterruptedException {
                called.countDown();
                // Longer than a close waits for a duty cycle.
                Thread.sleep(1500);
                return true;
            }
        };
        try (ConnectionSet set = agentSet().listener(slow).start();
            ConnectionSet clients = SetPair.builder().listener(client).start();
            Loop loop = new Loop(new AgentInvoker(errors::add, null, set.agents().getFirst()))) {
            sendOne(clients.connect(TestDevice.address(), set.listen(0)));
            called.await();
            assertEndsSoon(loop.invoker::close);
            assertTrue(set.close(0), "the invoker has closed it");
        }
        assertEquals("disconnected CLOSED", slow.all.getLast());
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldNotTakeOverDuringACallbackThatIsMadeByResume() throws Exception {
        final AtomicReference<CompletableFuture<Boolean>> closing = new AtomicReference<>();
        final AtomicReference<ConnectionSet> set = new AtomicReference<>();
        final Refusing slow = new Refusing(connection -> {
            closing.set(CompletableFuture.supplyAsync(() -> set.get().close(BOUND_NS)));
            // Longer than a close waits for a duty cycle.
            Thread.sleep(1500);
            assertSame(Thread.currentThread(), set.get().pipelines().getFirst().pollerThread());
        });
        try (ConnectionSet clients = SetPair.builder().listener(client).start()) {
            set.set(agentSet().listener(slow).start());
            final AgentInvoker invoker = invoker(set.get());
            sendOne(clients.connect(TestDevice.address(), set.get().listen(0)));
            invokeUntil(invoker, slow::hasRefused);
            slow.connection().resume();
            assertTrue(closing.get().get());
        }
        assertEquals(List.of("connected", "returns", "disconnected CLOSED"), slow.all);
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldRefuseATakeOverThatIsTriedDuringACallbackThatIsMadeByResume() throws Exception {
        final Refusing refusing = new Refusing(connection -> {
            takeOver(connection);
            assertTrue(connection.poller().agent().isInvoker());
        });
        try (ConnectionSet clients = SetPair.builder().listener(client).start();
            ConnectionSet set = agentSet().listener(refusing).start();
            AgentInvoker invoker = invoker(set)) {
            sendOne(clients.connect(TestDevice.address(), set.listen(0)));
            invokeUntil(invoker, refusing::hasRefused);
            refusing.connection().resume();
            assertEquals(List.of("connected", "returns"), refusing.all);
            sendBack(refusing.connection());
            assertEquals("message m", client.await("message"));
        }
        assertEquals(List.of(), errors);
    }

    /** As a close that has found the agent idle before the callback began. */
    private static void takeOver(final MessageConnection connection) {
        final InvokedAgent agent = connection.poller().agent();
        CompletableFuture.runAsync(() -> agent.replaceIdleThread(agent.cycles())).join();
    }

    private static void sendBack(final MessageConnection connection) {
        assertTrue(connection.trySend(MESSAGE, 0, 1), "the thread invokes the agent as before");
    }

    @Test
    void shouldRefuseToResumeAfterATakeOver() throws Exception {
        final Refusing refusing = new Refusing(connection -> { });
        try (ConnectionSet clients = SetPair.builder().listener(client).start();
            ConnectionSet set = agentSet().listener(refusing).start();
            AgentInvoker invoker = invoker(set)) {
            sendOne(clients.connect(TestDevice.address(), set.listen(0)));
            invokeUntil(invoker, refusing::hasRefused);
            final MessageConnection connection = refusing.connection();
            takeOver(connection);
            // As if the thread had been the polling thread when resume() looked.
            assertThrows(IllegalStateException.class, () -> connection.poller().beginCallbacks(connection));
            assertThrows(IllegalStateException.class, connection::resume);
            assertEquals(List.of("connected"), refusing.all);
            invoker.invoke();
            connection.resume();
            assertEquals(List.of("connected", "returns"), refusing.all);
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldEndAnAgentThatACallbackMadeByResumeHasClosed() throws Exception {
        final Refusing refusing = new Refusing(connection -> connection.poller().agent().onClose());
        try (ConnectionSet clients = SetPair.builder().listener(client).start();
            ConnectionSet set = agentSet().listener(refusing).start();
            AgentInvoker invoker = invoker(set)) {
            sendOne(clients.connect(TestDevice.address(), set.listen(0)));
            invokeUntil(invoker, refusing::hasRefused);
            refusing.connection().resume();
            assertFalse(refusing.connection().poller().agent().isAlive());
        }
        assertEquals("disconnected", refusing.all.getLast().substring(0, 12));
    }

    @Test
    void shouldSendAndReceiveOnThreadsThatInvokeInTurn() throws Exception {
        final int turns = 40;
        // Over the window of 8, so that each thread posts receives again and returns credits.
        final int messages = 20;
        final List<Integer> received = new CopyOnWriteArrayList<>();
        final ConnectionListener collecting = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
                received.add(buffer.getInt(offset));
                return true;
            }
        };
        final UnsafeBuffer message = new UnsafeBuffer(new byte[Integer.BYTES]);
        final ExecutorService other = Executors.newSingleThreadExecutor();
        try (ConnectionSet set = SetPair.builder().listener(new Echo()).start();
            ConnectionSet clients = agentSet().listener(collecting).start()) {
            final AgentInvoker invoker = invoker(clients);
            final MessageConnection connection = clients.connect(TestDevice.address(), set.listen(0), BOUND_NS);
            for (int turn = 0; turn < turns; turn++) {
                final int first = turn * messages;
                final Runnable exchange = () -> {
                    invoker.invoke();
                    for (int i = first; i < first + messages; i++) {
                        message.putInt(0, i);
                        invokeUntil(invoker, () -> connection.trySend(message, 0, Integer.BYTES));
                    }
                    invokeUntil(invoker, () -> received.size() == first + messages);
                };
                if (turn % 2 == 0) {
                    other.submit(exchange).get();
                } else {
                    exchange.run();
                }
            }
        } finally {
            other.shutdownNow();
        }
        assertEquals(IntStream.range(0, turns * messages).boxed().toList(), received);
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldEndSoonWhenAnotherThreadClosesSeveralAgents() throws Exception {
        try (ConnectionSet set = agentSet().pollers(2).listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).start();
            Loop loop = new Loop(new AgentInvoker(errors::add, null, new CompositeAgent(set.agents())))) {
            final int port = set.listen(0);
            clients.connect(TestDevice.address(), port);
            clients.connect(TestDevice.address(), port);
            server.await("connected");
            server.await("connected");
            loop.pause();
            assertEndsSoon(loop.invoker::close);
            assertTrue(set.close(0), "the invoker has closed it");
        }
        assertEquals(List.of("disconnected CLOSED", "disconnected CLOSED"), server.all.subList(2, 4));
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldServeAllConnectionsByTheAgentThatIsStarted() throws Exception {
        for (int driven = 0; driven < 2; driven++) {
            try (ConnectionSet set = agentSet().pollers(2).listener(server).start();
                ConnectionSet clients = SetPair.builder().listener(client).start();
                Loop loop = new Loop(new AgentInvoker(errors::add, null, set.agents().get(driven)))) {
                final int port = set.listen(0);
                sendOne(clients.connect(TestDevice.address(), port));
                sendOne(clients.connect(TestDevice.address(), port));
                assertEquals("message m", server.await("message"));
                assertEquals("message m", server.await("message"));
                assertFalse(loop.invoker.isClosed());
            }
        }
        assertEquals(List.of(), errors);
    }

    @Test
    void shouldLogOnceThatAcceptedConnectionsWaitForTheStartOfAnAgent() throws Exception {
        try (LogCapture log = new LogCapture(ConnectionEvents.class.getName());
            ConnectionSet set = agentSet().listener(server).start();
            ConnectionSet clients = SetPair.builder().listener(client).start()) {
            final int port = set.listen(0);
            clients.connect(TestDevice.address(), port);
            clients.connect(TestDevice.address(), port);
            assertTrue(set.close(BOUND_NS), "its event thread has ended");
            final List<String> lines = log.messages();
            assertEquals(1, lines.size());
            assertTrue(lines.getFirst().endsWith("an accepted connection waits: agent " + set.agents().getFirst().roleName() +
                " has not been started"), lines.getFirst());
        }
    }

    @Test
    void shouldHaveNoAgentsWithPollingThreads() {
        try (ConnectionSet set = SetPair.builder().listener(server).start()) {
            final String message = assertThrows(IllegalStateException.class, set::agents).getMessage();
            assertTrue(message.contains("asAgent()"), message);
        }
    }

    /** A thread that invokes until {@code pause}, and lives until {@code close}. */
    private static final class Loop implements AutoCloseable {
        private final AgentInvoker invoker;
        private final CountDownLatch started = new CountDownLatch(1);
        private final CountDownLatch paused = new CountDownLatch(1);
        private final CountDownLatch ended = new CountDownLatch(1);
        private final Thread thread;
        private volatile boolean pauses;

        Loop(final AgentInvoker invoker) throws InterruptedException {
            this.invoker = invoker;
            thread = Thread.ofPlatform().daemon().start(this::run);
            started.await();
        }

        private void run() {
            invoker.start();
            started.countDown();
            while (!pauses) {
                if (invoker.invoke() == 0) {
                    Thread.yield();
                }
            }
            paused.countDown();
            try {
                ended.await();
            } catch (final InterruptedException end) {
                Thread.currentThread().interrupt();
            }
        }

        void pause() throws InterruptedException {
            pauses = true;
            paused.await();
        }

        @Override
        public void close() {
            pauses = true;
            ended.countDown();
        }
    }

    private static void sendOne(final MessageConnection connection) {
        connection.execute(() -> connection.trySend(MESSAGE, 0, 1));
    }

    /** Allows half of the time-out of a close, which a close without duty cycles uses up. */
    private static void assertEndsSoon(final Runnable close) {
        final long startNs = System.nanoTime();
        close.run();
        final long durationNs = System.nanoTime() - startNs;
        assertTrue(durationNs < TimeUnit.SECONDS.toNanos(5), () -> durationNs + " ns");
    }

    private ConnectionSetBuilder agentSet() {
        return SetPair.builder().pipelines(i -> Pipeline.builder().name("agent-" + i).withoutCountersFile())
            .errorHandler(errors::add).asAgent();
    }

    private AgentInvoker invoker(final ConnectionSet set) {
        final AgentInvoker invoker = new AgentInvoker(errors::add, null, set.agents().getFirst());
        invoker.start();
        assertNull(errors.isEmpty() ? null : errors.getFirst());
        return invoker;
    }

    private static void invokeUntil(final AgentInvoker invoker, final BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            assertFalse(Thread.currentThread().isInterrupted(), "time-out");
            if (invoker.invoke() == 0) {
                Thread.yield();
            }
        }
    }
}
