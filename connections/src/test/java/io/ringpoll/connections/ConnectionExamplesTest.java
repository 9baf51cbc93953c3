package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.net.ConnectException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.agrona.DirectBuffer;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.AgentInvoker;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.CompositeAgent;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The parts of programs in docs/guide/connections.md: they are the code of this class, and it runs. */
@Timeout(60)
class ConnectionExamplesTest {
    private static final Path PAGE = Path.of("..", "docs", "guide", "connections.md");
    private static final Path SOURCE =
        Path.of("src", "test", "java", "io", "ringpoll", "connections", "ConnectionExamplesTest.java");
    private static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);

    private final BlockingQueue<String> seen = new LinkedBlockingQueue<>();

    @Test
    void shouldShowOnlyCodeThatRuns() throws IOException {
        final String code = normalized(Files.readString(SOURCE));
        int parts = 0;
        for (final String part : Files.readString(PAGE).split("```java\n")) {
            final String example = part.split("```")[0];
            // Those with imports are whole programs, of ConnectionsPageTest.
            if (part.contains("```") && parts++ > 0 && !example.startsWith("import ")) {
                assertTrue(code.contains(normalized(example)), () -> "not in this class, or in another order: " + example);
            }
        }
        assertTrue(parts > 7, "only " + parts + " examples");
    }

    @Test
    void shouldShareACompletionQueue() throws Exception {
        ConnectionSetBuilder builder = ConnectionSet.builder().overVerbs().sharedCompletionQueue().maxConnections(1000);
        try (ConnectionSet server = builder.address(TestDevice.address()).listener(MessageConnection::trySend).start();
            ConnectionSet clients = SetPair.builder().listener(new Recorder()).start()) {
            assertTrue(clients.connect(TestDevice.address(), server.listen(0)).isConnected());
        }
    }

    /** Code without comments and spaces. */
    private static String normalized(final String text) {
        try (Stream<String> lines = text.lines()) {
            return lines.map(line -> line.replaceAll("//.*", "").replaceAll("\\s", "")).collect(Collectors.joining());
        }
    }

    /** Sends its waiting messages until the credit is used up. */
    private static final class Producer implements ConnectionListener {
        private final ArrayDeque<DirectBuffer> unsent = new ArrayDeque<>();

        @Override
        public void onConnected(final MessageConnection connection) {
            for (int i = 0; i < 100; i++) {
                final UnsafeBuffer message = new UnsafeBuffer(new byte[Integer.BYTES]);
                message.putInt(0, i);
                send(connection, message);
            }
        }

        void send(MessageConnection connection, DirectBuffer message) {
            if (!unsent.isEmpty() || !connection.trySend(message, 0, message.capacity())) {
                unsent.add(message);                              // at most what you allow to wait
            }
        }

        @Override
        public void onDrained(MessageConnection connection) {
            while (!unsent.isEmpty() && connection.trySend(unsent.peek(), 0, unsent.peek().capacity())) {
                unsent.remove();
            }
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            return true;
        }
    }

    /** Keeps the latest message without a copy. */
    private static class Latest implements ConnectionListener {
        protected long latest = -1;
        protected int position;

        @Override
        public boolean onMessage(MessageConnection connection, DirectBuffer buffer, int offset, int length) {
            if (latest >= 0) {
                connection.release(latest);
            }
            latest = connection.retain();
            position = offset;
            return true;
        }
    }

    /** The same, and reads the kept message at the end. */
    private final class SeenLatest extends Latest {
        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            seen.add("message " + buffer.getInt(offset));
            return super.onMessage(connection, buffer, offset, length);
        }

        @Override
        public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
            seen.add(reason + " with " + connection.buffer().getInt(position));
            if (latest >= 0) {
                connection.release(latest);
            }
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldSendWhenThereIsCreditAgainAndRetainTheLatestMessage() throws Exception {
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(4), new SeenLatest(), new Producer())) {
            final MessageConnection connection = pair.connect();
            for (int i = 0; i < 100; i++) {
                assertEquals("message " + i, seen.poll(50, TimeUnit.SECONDS));
            }
            connection.close();
            assertEquals("PEER_CLOSED with 99", seen.poll(50, TimeUnit.SECONDS));
        }
    }

    /** Sends heartbeats, and closes the connection of a peer that sends nothing. */
    private final class Sessions implements ConnectionListener {
        private static final long HEARTBEAT_NS = 1_000_000;
        private static final long TIMEOUT_NS = 2_000_000_000;
        private final UnsafeBuffer heartbeat = new UnsafeBuffer(new byte[Integer.BYTES]);

        private static final class Session {
            private ConnectionTimer timeout;
            private ConnectionTimer heartbeat;
        }

        @Override
        public void onConnected(MessageConnection connection) {
            Session session = new Session();
            session.timeout = connection.newTimer(connection::close);
            session.heartbeat = connection.newTimer(() -> {
                connection.trySend(heartbeat, 0, heartbeat.capacity());
                session.heartbeat.schedule(HEARTBEAT_NS);
            });
            session.heartbeat.schedule(HEARTBEAT_NS);
            session.timeout.schedule(TIMEOUT_NS);
            connection.attach(session);
        }

        @Override
        public boolean onMessage(MessageConnection connection, DirectBuffer buffer, int offset, int length) {
            ((Session) connection.attachment()).timeout.schedule(TIMEOUT_NS);     // the peer is there
            return true;
        }

        @Override
        public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
            seen.add("session " + reason);
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldSendHeartbeatsAndCloseTheConnectionOfASilentPeer() throws Exception {
        final AtomicInteger answers = new AtomicInteger();
        try (SetPair pair = SetPair.of(builder -> { }, new Sessions(), (connection, buffer, offset, length) -> {
            seen.add("heartbeat");
            return answers.incrementAndGet() > 10 || connection.trySend(buffer, offset, length);
        })) {
            pair.connect();
            String event;
            int heartbeats = 0;
            do {
                event = seen.poll(50, TimeUnit.SECONDS);
                heartbeats += "heartbeat".equals(event) ? 1 : 0;
            } while ("heartbeat".equals(event));
            assertEquals("session CLOSED", event);
            assertTrue(heartbeats > 10, heartbeats + " heartbeats");
        }
    }

    /** A client that connects again. */
    private final class Client implements ConnectionListener {
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();
        private final String address;
        private final int serverPort;
        private volatile ConnectionSet set;

        private Client(final String address, final int serverPort) {
            this.address = address;
            this.serverPort = serverPort;
        }

        @Override
        public void onDisconnected(MessageConnection connection, DisconnectReason reason) {
            switch (reason) {
                case CLOSED -> { }                                // by this side: it does not want it any more
                case PROTOCOL_VIOLATION -> report(connection.disconnectDetail());
                case PEER_CLOSED, PEER_LOST, FAILED -> timer.execute(this::connect);
            }
        }

        void connect() {                                          // on a thread of its own: it waits
            try {
                set.connect(address, serverPort, TEN_SECONDS);
            } catch (ConnectException failed) {
                timer.schedule(this::connect, 100, TimeUnit.MILLISECONDS);
            } catch (IllegalStateException closed) {
                report(closed.getMessage());
            }
        }

        private void report(final String line) {
            seen.add(line);
        }

        @Override
        public void onConnected(final MessageConnection connection) {
            seen.add("connected");
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            return true;
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldConnectAgainUntilTheServerListens() throws Exception {
        final int port;
        try (ConnectionSet first = SetPair.builder().listener((connection, buffer, offset, length) -> true).start()) {
            port = first.listen(0);
            final Client client = new Client(TestDevice.address(), port);
            final ConnectionSet set = SetPair.builder().listener(client).start();
            client.set = set;
            client.timer.execute(client::connect);
            assertEquals("connected", seen.poll(50, TimeUnit.SECONDS));
            assertTrue(first.close(TEN_SECONDS));
            try (ConnectionSet second = SetPair.builder().listener((connection, buffer, offset, length) -> true).start()) {
                second.listen(port);
                assertEquals("connected", seen.poll(50, TimeUnit.SECONDS));
                boolean released = set.close(TEN_SECONDS);
                assertTrue(released);
                client.connect();
                assertTrue(seen.poll(50, TimeUnit.SECONDS).endsWith(" is closed"));
            } finally {
                client.timer.shutdownNow();
            }
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldCloseInAHookOfTheProgram() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, new Producer(), new Producer())) {
            final ConnectionSet set = pair.server();
            final Thread hook;
            Runtime.getRuntime().addShutdownHook(hook = new Thread(() -> set.close(TEN_SECONDS)));
            hook.run();
            assertTrue(set.isClosed());
            assertTrue(Runtime.getRuntime().removeShutdownHook(hook));
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldCountWhatItHandles() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, new SeenLatest(), new Producer())) {
            pair.connect();
            for (int i = 0; i < 100; i++) {
                assertEquals("message " + i, seen.poll(50, TimeUnit.SECONDS));
            }
            final List<String> lines = Stream.of(pair.server()).map(ConnectionExamplesTest::describe).toList();
            assertFalse(lines.getFirst().contains(" 0 connections"), lines::toString);
            assertTrue(lines.getFirst().endsWith(" 0 rejected, 0 exceptions"), lines::toString);
        }
    }

    /** Another agent of the program, in the same CompositeAgent as the set. */
    private static final class Logic implements Agent {
        private volatile Thread thread;

        @Override
        public int doWork() {
            thread = Thread.currentThread();
            return 0;
        }

        @Override
        public String roleName() {
            return "logic";
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldServeOnTheThreadOfARunnerAndAskOnThatOfAnInvoker() throws Exception {
        final Logic logic = new Logic();
        final List<Thread> serving = new CopyOnWriteArrayList<>();
        final ErrorHandler errorHandler = failure -> seen.add(failure.toString());
        final ConnectionListener listener = (connection, buffer, offset, length) -> {
            serving.add(Thread.currentThread());
            connection.close();
            return true;
        };
        ConnectionSet set = ConnectionSet.builder().name("embedded").asAgent().listener(listener).start();
        AgentRunner runner = new AgentRunner(
            new BackoffIdleStrategy(), errorHandler, null, new CompositeAgent(set.agents().getFirst(), logic));
        AgentRunner.startOnThread(runner);
        invoke(TestDevice.address(), set.listen(TestDevice.address(), 0), errorHandler, new Producer());
        runner.close();
        assertTrue(set.close(0));
        assertEquals(List.of(logic.thread), serving.stream().distinct().toList());
        assertEquals(List.of(), List.copyOf(seen));
    }

    private static void invoke(
        final String address, final int serverPort, final ErrorHandler errorHandler, final ConnectionListener listener)
        throws Exception {
        try (ConnectionSet set = ConnectionSet.builder().name("invoked").asAgent().listener(listener).start();
            AgentInvoker invoker = new AgentInvoker(errorHandler, null, set.agents().getFirst())) {
            invoker.start();
            MessageConnection connection = set.connect(address, serverPort);
            while (connection.isConnected()) {
                invoker.invoke();
            }
        }
    }

    private static String describe(final ConnectionSet set) {
        StringBuilder line = new StringBuilder();
        for (Pipeline pipeline : set.pipelines()) {
            line.append(pipeline.pollerThread().getName()).append(": ")
                .append(pipeline.counters().sum("handled_completions")).append(" handled, ");
        }
        line.append(set.connections()).append(" connections, ").append(set.rejectedRequests()).append(" rejected, ")
            .append(set.listenerExceptions()).append(" exceptions");
        return line.toString();
    }
}
