package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.connections.BufferPool;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.lang.reflect.Field;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Claims and retained messages outlive their connection and their set; a late access to anything else gets an exception. A
 * defect may end the JVM.
 */
@Timeout(60)
@Tag(TestDevice.TAG)
class BufferLifeTest {
    /** Its buffers are mapped for themselves, and unmapped when they are freed. */
    private static final int LARGE_BYTES = 1 << 20;

    private final Retaining server = new Retaining();
    private final Recorder client = new Recorder();

    /** Retains each message. */
    private static final class Retaining extends Recorder {
        private volatile MessageConnection connection;
        private volatile DirectBuffer buffer;
        private volatile int offset;
        private volatile long handle;

        @Override
        public boolean onMessage(
            final MessageConnection from, final DirectBuffer message, final int start, final int length) {
            connection = from;
            buffer = message;
            offset = start;
            handle = from.retain();
            add("retained");
            return true;
        }
    }

    @Test
    void shouldRefuseEachAccessAfterTheEndOfAConnection() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            final MutableDirectBuffer buffer = connection.buffer();
            call(connection, () -> connection.trySend(buffer, 0, 8));
            server.await("retained");
            final DirectBuffer received = server.buffer;
            end(connection);
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
            assertEquals(0, received.getByte(server.offset));
            call(server.connection, () -> {
                server.connection.release(server.handle);
                return null;
            });
            assertRevoked(connection.buffer());
            assertRevoked(buffer);
            assertThrows(IndexOutOfBoundsException.class, () -> received.getByte(server.offset));
            assertEquals(0, received.capacity());
            final MessageConnection next = pair.connect();
            assertTrue(next.buffer().capacity() > 0);
            assertThrows(IndexOutOfBoundsException.class, () -> next.trySend(received, 0, 1));
        }
    }

    /** Each has retained its first message: in the same buffer, and as its first one. */
    @Test
    void shouldRefuseTheHandleOfAnotherConnection() throws Exception {
        final List<MessageConnection> connections = new CopyOnWriteArrayList<>();
        final List<Long> handles = new CopyOnWriteArrayList<>();
        final Recorder retaining = new Recorder() {
            @Override
            public boolean onMessage(
                final MessageConnection from, final DirectBuffer message, final int start, final int length) {
                connections.add(from);
                handles.add(from.retain());
                add("retained");
                return true;
            }
        };
        try (SetPair pair = SetPair.of(builder -> { }, retaining, client)) {
            for (int i = 0; i < 2; i++) {
                final MessageConnection connection = pair.connect();
                call(connection, () -> connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1));
                retaining.await("retained");
            }
            final MessageConnection first = connections.getFirst();
            final MessageConnection second = connections.getLast();
            call(first, () -> {
                final String refusal =
                    assertThrows(IllegalStateException.class, () -> first.release(handles.getLast())).getMessage();
                assertTrue(refusal.endsWith(" is not retained on " + first), refusal);
                assertThrows(IllegalStateException.class, () -> second.release(handles.getFirst()));
                first.release(handles.getFirst());
                assertThrows(IllegalStateException.class, () -> first.release(handles.getFirst()), "is released");
                second.release(handles.getLast());
                return null;
            });
        }
    }

    /** The handle may have been stored before: the message must not change under a reader. */
    @Test
    void shouldRetainAMessageWhoseCallbackThrowsUntilItsRelease() throws Exception {
        final Recorder throwing = new Recorder() {
            private long handle = -1;

            @Override
            public boolean onMessage(
                final MessageConnection from, final DirectBuffer message, final int start, final int length) throws IOException {
                if (handle >= 0) {
                    from.release(handle);
                }
                handle = from.retain();
                add("retained " + message.getByte(start));
                throw new IOException("thrown after retain");
            }
        };
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(2).errorHandler(failure -> { }), throwing, client)) {
            final MessageConnection connection = pair.connect();
            // Of the two credits, one is always retained.
            for (byte i = 0; i < 10; i++) {
                final UnsafeBuffer message = new UnsafeBuffer(new byte[]{i});
                while (!call(connection, () -> connection.trySend(message, 0, 1))) {
                    Thread.onSpinWait();
                }
                assertEquals("retained " + i, throwing.await("retained"));
            }
            // The last one is counted after its callback.
            while (pair.server().listenerExceptions() < 10) {
                Thread.sleep(1);
            }
        }
    }

    @Test
    void shouldRetainAMessageAgainAfterItsRelease() throws Exception {
        final Recorder hesitant = new Recorder() {
            private int calls;

            @Override
            public boolean onMessage(
                final MessageConnection from, final DirectBuffer message, final int start, final int length) {
                final long first = from.retain();
                from.release(first);
                assertThrows(IllegalStateException.class, () -> from.release(first));
                final long second = from.retain();
                from.release(second);
                add("message " + message.getByte(start));
                // The result counts: each message is refused once.
                assertTrue(from.execute(from::resume));
                return ++calls % 2 == 0;
            }
        };
        try (SetPair pair = SetPair.of(builder -> builder.messagesInFlight(2), hesitant, client)) {
            final MessageConnection connection = pair.connect();
            for (byte i = 0; i < 10; i++) {
                final UnsafeBuffer message = new UnsafeBuffer(new byte[]{i});
                while (!call(connection, () -> connection.trySend(message, 0, 1))) {
                    Thread.onSpinWait();
                }
                assertEquals("message " + i, hesitant.await("message"));
                assertEquals("message " + i, hesitant.await("message"));
            }
            assertEquals(0, pair.server().listenerExceptions());
        }
    }

    @Test
    void shouldKeepTheClaimOfAnEndedConnectionFromLaterConnections() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection ended = pair.connect();
            final int claimed = call(ended, () -> ended.tryClaim(8));
            end(ended);
            final MessageConnection next = pair.connect();
            final int index = call(next, () -> {
                final int own = next.tryClaim(8);
                next.buffer().putLong(own, 42);
                return own;
            });
            ended.buffer().putLong(claimed, -1);
            assertEquals(-1, ended.buffer().getLong(claimed));
            assertEquals(42, next.buffer().getLong(index));
            call(ended, () -> {
                ended.commit(claimed);
                return null;
            });
            assertRevoked(ended.buffer());
            assertEquals(42, next.buffer().getLong(index));
            call(next, () -> {
                next.abort(index);
                return null;
            });
        }
    }

    @Test
    void shouldKeepClaimsAndRetainedMessagesAfterTheEndOfTheSet() throws Exception {
        final MessageConnection connection;
        final int claimed;
        try (SetPair pair = SetPair.of(builder -> builder.maxMessageBytes(LARGE_BYTES), server, client)) {
            connection = pair.connect();
            call(connection, () -> connection.trySend(new UnsafeBuffer(new byte[]{7}), 0, 1));
            server.await("retained");
            claimed = call(connection, () -> connection.tryClaim(LARGE_BYTES));
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertTrue(pair.server().close(SetPair.TEN_SECONDS));
        }
        collectGarbage();
        connection.buffer().setMemory(claimed, LARGE_BYTES, (byte) 1);
        assertEquals(7, server.buffer.getByte(server.offset));
        connection.abort(claimed);
        server.connection.release(server.handle);
        assertRevoked(connection.buffer());
        assertThrows(IndexOutOfBoundsException.class, () -> server.buffer.getByte(server.offset));
        assertEquals(MessageConnection.NOT_CONNECTED, connection.tryClaim(1));
        assertThrows(IllegalStateException.class, () -> connection.commit(claimed));
        assertThrows(IllegalStateException.class, () -> server.connection.release(server.handle));
    }

    @Test
    void shouldNotFreeMemoryThatABufferOfTheUserWraps() throws Exception {
        final UnsafeBuffer wrapping = new UnsafeBuffer(0, 0);
        try (SetPair pair = SetPair.of(builder -> builder.maxMessageBytes(LARGE_BYTES), server, client)) {
            final MessageConnection connection = pair.connect();
            wrapping.wrap(connection.buffer(), 0, 16 * LARGE_BYTES);
        }
        collectGarbage();
        for (int i = 0; i < wrapping.capacity(); i += 4096) {
            wrapping.putByte(i, (byte) 1);
        }
        assertEquals(1, wrapping.getByte(0));
    }

    @Test
    void shouldCopyMessagesToItsOwnMemoryIfTheUserHasWrappedOtherMemoryByTheBuffer() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            final UnsafeBuffer message = new UnsafeBuffer(new byte[]{7, 8});
            assertTrue(call(connection, () -> {
                connection.buffer().wrap(new byte[1]);
                return connection.trySend(message, 0, 2);
            }));
            server.await("retained");
            assertEquals(7, server.buffer.getByte(server.offset));
            assertEquals(8, server.buffer.getByte(server.offset + 1));
        }
    }

    @Test
    void shouldGiveMemoryBackBeforeAnotherThreadMayReturnIt() throws Exception {
        final CompletableFuture<Thread> ending = new CompletableFuture<>();
        final Recorder last = new Recorder() {
            @Override
            public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
                ending.complete(Thread.currentThread());
            }
        };
        try (SetPair pair = SetPair.of(builder -> { }, server, last)) {
            final MessageConnection connection = pair.connect();
            synchronized (poolOf(pair.client())) {
                // The thread that closes the set ends the connection.
                pair.client().pipelines().getFirst().close();
                final Thread closer = ending.get(20, TimeUnit.SECONDS);
                while (closer.getState() != Thread.State.BLOCKED) {
                    Thread.onSpinWait();
                }
                assertThrows(IllegalStateException.class, () -> connection.tryClaim(1));
            }
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertEquals(MessageConnection.NOT_CONNECTED, connection.tryClaim(1));
        }
    }

    /** The monitor of a set's spare memory. */
    private static Object poolOf(final ConnectionSet set) throws ReflectiveOperationException {
        final Field memory = ConnectionPlaces.class.getDeclaredField("memory");
        memory.setAccessible(true);
        final Field spare = BufferPool.class.getDeclaredField("spare");
        spare.setAccessible(true);
        return spare.get(memory.get(set.places()));
    }

    private void end(final MessageConnection connection) throws Exception {
        connection.close();
        assertEquals("disconnected CLOSED", client.await("disconnected"));
        // After the callback.
        call(connection, () -> null);
    }

    private static void assertRevoked(final MutableDirectBuffer buffer) {
        assertEquals(0, buffer.capacity());
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.putLong(0, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(0));
    }

    /** Frees unreachable memory, on the thread of the JDK's cleaner. */
    private static void collectGarbage() throws InterruptedException {
        for (int i = 0; i < 3; i++) {
            System.gc();
            TimeUnit.MILLISECONDS.sleep(50);
        }
    }

    private static <T> T call(final MessageConnection connection, final Supplier<T> action) throws Exception {
        final CompletableFuture<T> result = new CompletableFuture<>();
        assertTrue(connection.execute(() -> {
            try {
                result.complete(action.get());
            } catch (final RuntimeException | Error failure) {
                result.completeExceptionally(failure);
            }
        }));
        return result.get(20, TimeUnit.SECONDS);
    }
}
