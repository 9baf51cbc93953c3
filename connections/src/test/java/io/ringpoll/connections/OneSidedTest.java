package io.ringpoll.connections;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.MemoryUsage;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RemoteMemoryRegion;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Writes and reads of the peer's memory: each ends in one callback, in order, beside the messages of the connection. */
@Timeout(60)
@Tag(TestDevice.TAG)
class OneSidedTest {
    private static final int BYTES = 1 << 16;
    /** Divides the last index, and meets each place of a cache line. */
    private static final int STEP_BYTES = 255;
    private static final int OPERATIONS = 4;

    private final Peer serverPeer = Peer.ofLocal(TestDevice.address());
    private final Peer clientPeer = Peer.ofLocal(TestDevice.address());
    private final LocalMemoryRegion target =
        serverPeer.allocate(BYTES, MemoryUsage.WRITE_DESTINATION, MemoryUsage.READ_SOURCE);
    private final LocalMemoryRegion local =
        clientPeer.allocate(BYTES, MemoryUsage.WRITE_SOURCE, MemoryUsage.READ_DESTINATION);
    private final RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(target.descriptor());
    private final Recorder server = new Recorder();
    private final Recorder client = new Recorder();

    @AfterEach
    void close() {
        remote.close();
        target.close();
        local.close();
        serverPeer.close();
        clientPeer.close();
    }

    private SetPair pair(final ConnectionListener serving, final ConnectionListener requesting) {
        return pair(serving, requesting, OPERATIONS);
    }

    private SetPair pair(final ConnectionListener serving, final ConnectionListener requesting, final int operations) {
        final ConnectionSet listening = SetPair.builder().address(null).peer(serverPeer).listener(serving).start();
        final ConnectionSet connecting = SetPair.builder().address(null).peer(clientPeer).operationsInFlight(operations)
            .listener(requesting).start();
        return new SetPair(listening, connecting, listening.listen(TestDevice.address(), 0));
    }

    /** Writes a number to all memory of the peer, sends it, and goes on when it has the answer and the completion. */
    private final class Rounds extends Recorder {
        /** Few on an emulated CPU. */
        private final int rounds = TestDevice.isShort() ? 20 : 200;
        private int round;
        private int pending;

        @Override
        public void onConnected(final MessageConnection connection) {
            pending = 2;
            local.memory().fill((byte) ++round);
            assertTrue(connection.tryWrite(remote, 0, local, 0, BYTES, round));
            assertTrue(connection.trySend(new UnsafeBuffer(new byte[] {(byte) round}), 0, 1));
        }

        @Override
        public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
            assertEquals(round, tag);
            assertEquals(WcStatus.SUCCESS, status);
            onPart(connection);
        }

        @Override
        public boolean onMessage(
            final MessageConnection connection, final DirectBuffer buffer, final int offset, final int length) {
            assertEquals((byte) round, buffer.getByte(offset));
            onPart(connection);
            return true;
        }

        private void onPart(final MessageConnection connection) {
            if (--pending > 0) {
                return;
            }
            if (round < rounds) {
                onConnected(connection);
            } else {
                add("done");
            }
        }
    }

    @Test
    void shouldDeliverAMessageAfterTheDataThatWasWrittenBeforeIt() throws Exception {
        final MemorySegment memory = target.memory();
        final ConnectionListener checking = (connection, buffer, offset, length) -> {
            for (int i = 0; i < BYTES; i += STEP_BYTES) {
                assertEquals(buffer.getByte(offset), memory.get(ValueLayout.JAVA_BYTE, i));
            }
            return connection.trySend(buffer, offset, length);
        };
        final Rounds rounds = new Rounds();
        try (SetPair pair = pair(checking, rounds)) {
            pair.connect();
            rounds.await("done");
            assertEquals(0, pair.server().listenerExceptions());
            assertEquals(0, pair.client().listenerExceptions());
        }
    }

    /** Each operation is at another place, and each read is posted by the callback of a write. */
    @Test
    void shouldReadWhatWasWrittenBefore() throws Exception {
        final int pieces = 100;
        final Recorder mixed = new Recorder() {
            private int written;
            private int read;

            @Override
            public void onConnected(final MessageConnection connection) {
                local.memory().set(ValueLayout.JAVA_INT, 0, ++written);
                assertTrue(connection.tryWrite(remote, 4L * written, local, 0, 4, written));
                assertTrue(connection.tryRead(local, 4L * written, remote, 4L * written, 4, -written));
            }

            @Override
            public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
                assertEquals(WcStatus.SUCCESS, status);
                if (tag > 0) {
                    assertEquals(written, tag);
                    return;
                }
                read++;
                assertEquals(-read, tag);
                assertEquals(read, local.memory().get(ValueLayout.JAVA_INT, 4L * read));
                if (read == pieces) {
                    add("done");
                } else {
                    onConnected(connection);
                }
            }
        };
        try (SetPair pair = pair(server, mixed)) {
            pair.connect();
            mixed.await("done");
            assertEquals(0, pair.client().listenerExceptions());
        }
    }

    @Test
    void shouldRefuseMoreThanItsOperationsUntilOneHasCompleted() throws Exception {
        final int last = 100;
        final Tags tags = new Tags() {
            private long next = OPERATIONS;

            @Override
            public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
                super.onOperationCompleted(connection, tag, status);
                if (next < last) {
                    assertTrue(connection.tryWrite(remote, 0, local, 0, 8, next++), "the room of a completed operation");
                } else if (tags.size() == last) {
                    add("done");
                }
            }
        };
        try (SetPair pair = pair(server, tags)) {
            final MessageConnection connection = pair.connect();
            call(connection, () -> {
                for (int i = 0; i < OPERATIONS; i++) {
                    assertTrue(connection.tryWrite(remote, 0, local, 0, 8, i));
                }
                assertFalse(connection.tryWrite(remote, 0, local, 0, 8, OPERATIONS));
                assertFalse(connection.tryRead(local, 0, remote, 0, 8, OPERATIONS));
                return null;
            });
            tags.await("done");
            assertEquals(LongStream.range(0, last).boxed().toList(), tags.tags);
            assertEquals(0, pair.client().listenerExceptions());
        }
    }

    @Test
    void shouldHaveRoomForAllOperationsBesideAllMessages() throws Exception {
        final int operations = 64;
        final Tags tags = new Tags() {
            @Override
            public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
                super.onOperationCompleted(connection, tag, status);
                if (tags.size() == operations) {
                    add("done");
                }
            }
        };
        try (SetPair pair = pair(server, tags, operations)) {
            final MessageConnection connection = pair.connect();
            call(connection, () -> {
                for (int i = 0; i < operations; i++) {
                    assertTrue(connection.tryWrite(remote, 0, local, 0, 8, i));
                    connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1);
                }
                assertEquals(0, connection.credits());
                return null;
            });
            tags.await("done");
            assertTrue(connection.isConnected(), connection::disconnectDetail);
        }
        assertEquals(LongStream.range(0, operations).boxed().toList(), tags.tags);
    }

    /** Records the tags of the operations that have completed. */
    private static class Tags extends Recorder {
        final List<Long> tags = new ArrayList<>();
        final List<Integer> statuses = new ArrayList<>();

        @Override
        public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
            tags.add(tag);
            statuses.add(status);
        }
    }

    @Test
    void shouldRefuseMistakesAndContinue() throws Exception {
        final Tags tags = new Tags() {
            @Override
            public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
                super.onOperationCompleted(connection, tag, status);
                add("completed");
            }
        };
        final LocalMemoryRegion closed = clientPeer.allocate(8, MemoryUsage.WRITE_SOURCE);
        closed.close();
        try (SetPair pair = pair(server, tags)) {
            final MessageConnection connection = pair.connect();
            assertThrows(IllegalStateException.class, () -> connection.tryWrite(remote, 0, local, 0, 8, 0), "another thread");
            call(connection, () -> {
                assertThrows(NullPointerException.class, () -> connection.tryWrite(null, 0, local, 0, 8, 0));
                assertThrows(NullPointerException.class, () -> connection.tryWrite(remote, 0, null, 0, 8, 0));
                assertThrows(NullPointerException.class, () -> connection.tryRead(null, 0, remote, 0, 8, 0));
                assertThrows(NullPointerException.class, () -> connection.tryRead(local, 0, null, 0, 8, 0));
                for (final long length : new long[] {0, -1, Long.MIN_VALUE, (1L << 31) + 1, Long.MAX_VALUE}) {
                    assertThrows(IllegalArgumentException.class, () -> connection.tryWrite(remote, 0, local, 0, length, 0));
                    assertThrows(IllegalArgumentException.class, () -> connection.tryRead(local, 0, remote, 0, length, 0));
                }
                for (final long offset : new long[] {-1, BYTES - 7, Long.MAX_VALUE, Long.MIN_VALUE}) {
                    assertThrows(IndexOutOfBoundsException.class, () -> connection.tryWrite(remote, offset, local, 0, 8, 0));
                    assertThrows(IndexOutOfBoundsException.class, () -> connection.tryWrite(remote, 0, local, offset, 8, 0));
                    assertThrows(IndexOutOfBoundsException.class, () -> connection.tryRead(local, offset, remote, 0, 8, 0));
                    assertThrows(IndexOutOfBoundsException.class, () -> connection.tryRead(local, 0, remote, offset, 8, 0));
                }
                assertThrows(IllegalStateException.class, () -> connection.tryWrite(remote, 0, closed, 0, 8, 0));
                for (int i = 0; i < OPERATIONS; i++) {
                    assertTrue(connection.tryWrite(remote, BYTES - 8, local, BYTES - 8, 8, Long.MIN_VALUE + i));
                }
                return null;
            });
            for (int i = 0; i < OPERATIONS; i++) {
                tags.await("completed");
            }
            assertTrue(connection.isConnected());
            assertEquals(List.of(Long.MIN_VALUE, Long.MIN_VALUE + 1, Long.MIN_VALUE + 2, Long.MIN_VALUE + 3), tags.tags);
        }
    }

    @Test
    void shouldHaveNoOperationsWithoutANumber() throws Exception {
        try (SetPair pair = SetPair.of(builder -> { }, server, client)) {
            final MessageConnection connection = pair.connect();
            final String message = call(connection, () -> assertThrows(IllegalStateException.class,
                () -> connection.tryWrite(remote, 0, local, 0, 8, 0)).getMessage());
            assertTrue(message.contains("operationsInFlight"), message);
        }
        assertTrue(assertThrows(IllegalArgumentException.class, () -> SetPair.builder().operationsInFlight(1).listener(client)
            .start()).getMessage().contains("neither a peer nor a domain"));
        for (final int number : new int[] {-1, 32_769}) {
            assertEquals("operationsInFlight is " + number + ": use 0 to 32768", assertThrows(IllegalArgumentException.class,
                () -> SetPair.builder().address(null).peer(clientPeer).operationsInFlight(number).listener(client).start())
                .getMessage());
        }
    }

    /** The peer refuses the second operation: the connection ends, with one callback for each. */
    @Test
    void shouldEndTheConnectionAndEachOperationOnceWhenOneFails() throws Exception {
        final Tags tags = new Tags();
        try (LocalMemoryRegion unwritable = serverPeer.allocate(8, MemoryUsage.READ_SOURCE);
            RemoteMemoryRegion refusing = RemoteMemoryRegion.ofDescriptor(unwritable.descriptor());
            SetPair pair = pair(server, tags)) {
            final MessageConnection connection = pair.connect();
            call(connection, () -> {
                assertTrue(connection.tryWrite(remote, 0, local, 0, 8, 0));
                assertTrue(connection.tryWrite(refusing, 0, local, 0, 8, 1));
                assertTrue(connection.trySend(new UnsafeBuffer(new byte[1]), 0, 1));
                assertTrue(connection.tryRead(local, 0, remote, 0, 8, 2));
                assertTrue(connection.tryWrite(remote, 0, local, 0, 8, 3));
                return null;
            });
            assertEquals("disconnected FAILED", tags.await("disconnected"));
            assertEquals("work completion IBV_WC_REM_ACCESS_ERR", connection.disconnectDetail());
            assertFalse(call(pair.connect(), () -> connection.tryWrite(remote, 0, local, 0, 8, 4)));
            server.await("disconnected");
        }
        assertEquals(List.of(0L, 1L, 2L, 3L), tags.tags);
        assertEquals(
            List.of(WcStatus.SUCCESS, WcStatus.REM_ACCESS_ERR, WcStatus.WR_FLUSH_ERR, WcStatus.WR_FLUSH_ERR), tags.statuses);
    }

    @Test
    void shouldCompleteWhatWasPostedBeforeTheClose() throws Exception {
        final Tags tags = new Tags();
        try (SetPair pair = pair(server, tags)) {
            final MessageConnection connection = pair.connect();
            call(connection, () -> {
                for (int i = 0; i < OPERATIONS; i++) {
                    assertTrue(connection.tryRead(local, 0, remote, 0, BYTES, i));
                }
                connection.close();
                assertFalse(connection.tryRead(local, 0, remote, 0, 8, OPERATIONS));
                return null;
            });
            assertEquals("disconnected CLOSED", tags.await("disconnected"));
            assertEquals("disconnected PEER_CLOSED", server.await("disconnected"));
        }
        assertEquals(List.of(0L, 1L, 2L, 3L), tags.tags);
        assertEquals(List.of(0, 0, 0, 0), tags.statuses);
    }

    /** Posts again in each callback until its connection has ended. */
    private final class Endless extends Recorder {
        long accepted;
        long completed;
        private boolean failed;

        @Override
        public void onConnected(final MessageConnection connection) {
            while (connection.tryWrite(remote, 0, local, 0, 1024, accepted)) {
                accepted++;
            }
            super.onConnected(connection);
        }

        @Override
        public void onOperationCompleted(final MessageConnection connection, final long tag, final int status) {
            assertEquals(completed++, tag);
            assertFalse(failed && status == WcStatus.SUCCESS, "a success after a failure");
            failed |= status != WcStatus.SUCCESS;
            if (connection.tryWrite(remote, 0, local, 0, 1024, accepted)) {
                accepted++;
            }
            if (completed == 100) {
                add("running");
            }
        }

        @Override
        public void onDisconnected(final MessageConnection connection, final DisconnectReason reason) {
            super.onDisconnected(connection, reason);
            assertEquals(accepted, completed, "operations without a callback before the last one");
        }
    }

    @Test
    void shouldEndEachOperationOnceWhenThePeerCloses() throws Exception {
        final Endless endless = new Endless();
        try (SetPair pair = pair(server, endless)) {
            pair.connect();
            endless.await("running");
            pair.server().close();
            final String end = endless.await("disconnected");
            assertTrue(List.of("disconnected PEER_CLOSED", "disconnected PEER_LOST").contains(end), end);
            assertEquals(0, pair.client().listenerExceptions());
        }
        assertEquals(endless.accepted, endless.completed);
    }

    @Test
    void shouldEndEachOperationOnceWhenThePipelineEndsFirst() throws Exception {
        final Endless endless = new Endless();
        try (SetPair pair = pair(server, endless)) {
            pair.connect();
            endless.await("running");
            pair.client().pipelines().getFirst().close();
            endless.await("disconnected FAILED");
            assertTrue(pair.client().close(SetPair.TEN_SECONDS));
            assertEquals(0, pair.client().listenerExceptions());
        }
        assertEquals(endless.accepted, endless.completed);
    }

    private static <T> T call(final MessageConnection connection, final Supplier<T> task) throws Exception {
        final CompletableFuture<T> result = new CompletableFuture<>();
        assertTrue(connection.execute(() -> {
            try {
                result.complete(task.get());
            } catch (final Throwable failure) {
                result.completeExceptionally(failure);
            }
        }));
        return result.get(30, TimeUnit.SECONDS);
    }
}
