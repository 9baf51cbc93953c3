package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.testing.LoopbackCases;
import io.ringpoll.testing.TestDevice;
import java.nio.ByteBuffer;
import java.util.concurrent.TimeUnit;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.ExpandableDirectByteBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Messages travel in both directions, with any windows of the two sides. */
@Timeout(60)
@Tag(TestDevice.TAG)
@ParameterizedClass
@EnumSource
class EchoTest {
    private static final int MAX_BYTES = 200;
    /** All lengths, several times on loopback. */
    private static final int MESSAGES = TestDevice.isShort() ? 250 : 2000;

    private final SetKind kind;

    EchoTest(final SetKind kind) {
        this.kind = kind;
    }

    /** Answers each message with its content. */
    private static ConnectionListener echo() {
        return MessageConnection::trySend;
    }

    @Test
    void shouldEchoOneMessage() throws Exception {
        final Recorder client = new Recorder();
        try (SetPair pair = SetPair.of(kind, builder -> { }, echo(), client)) {
            final MessageConnection connection = pair.connect();
            final UnsafeBuffer message = new UnsafeBuffer("hello".getBytes());
            assertTrue(connection.execute(() -> assertTrue(connection.trySend(message, 0, 5))));
            assertEquals("message hello", client.await("message"));
        }
    }

    @Test
    void shouldSendFromBuffersOnAndOffTheHeap() throws Exception {
        final Recorder client = new Recorder();
        final MutableDirectBuffer[] sources = {
            new UnsafeBuffer(new byte[40], 7, 30), new UnsafeBuffer(ByteBuffer.allocate(40).position(9).slice()),
            new UnsafeBuffer(ByteBuffer.allocateDirect(40), 5, 30), new ExpandableArrayBuffer(40),
            new ExpandableDirectByteBuffer(40)
        };
        try (SetPair pair = SetPair.of(kind, builder -> { }, echo(), client)) {
            final MessageConnection connection = pair.connect();
            for (int i = 0; i < sources.length; i++) {
                final MutableDirectBuffer source = sources[i];
                source.putStringWithoutLengthUtf8(11, "hello " + i);
                assertTrue(connection.execute(() -> assertTrue(connection.trySend(source, 11, 7))));
                assertEquals("message hello " + i, client.await("message"));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"1,1", "8,1", "64,64"})
    @LoopbackCases({"1,8", "2,2", "3,3", "4,64"})
    void shouldEchoMessagesOfAllLengthsInOrder(final int serverWindow, final int clientWindow) throws Exception {
        final CountingClient client = new CountingClient(MESSAGES, MAX_BYTES);
        try (ConnectionSet server = SetPair.builder(kind).messagesInFlight(serverWindow).maxMessageBytes(MAX_BYTES + 7)
            .listener(echo()).start();
            ConnectionSet clients = SetPair.builder(kind).messagesInFlight(clientWindow).maxMessageBytes(MAX_BYTES)
                .listener(client).start()) {
            final MessageConnection connection = clients.connect(TestDevice.address(), server.listen(0));
            assertEquals(MAX_BYTES, connection.maxMessageBytes());
            client.await(30, TimeUnit.SECONDS);
        }
    }

    /** Tasks wake the poller as completions do: a poller that overslept one would take longer than the test. */
    @Test
    void shouldEchoWhenThePollersSleep() throws Exception {
        final CountingClient client = new CountingClient(200, MAX_BYTES);
        try (ConnectionSet server = sleeping("server").listener(echo()).start();
            ConnectionSet clients = sleeping("client").listener(client).start()) {
            clients.connect(TestDevice.address(), server.listen(0));
            client.await(50, TimeUnit.SECONDS);
        }
    }

    private ConnectionSetBuilder sleeping(final String name) {
        return SetPair.builder(kind).pipelines(i -> Pipeline.builder().name("sleeping-" + name).withoutCountersFile()
            .idleStrategy(new EventDrivenIdle(0, TimeUnit.MINUTES.toNanos(10))));
    }
}
