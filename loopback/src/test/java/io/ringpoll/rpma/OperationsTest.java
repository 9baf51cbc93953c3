package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The effect and the completion of each kind of work request. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class OperationsTest {
    private static final long ID = 0x8123_4567_89AB_CDEFL;
    private static final int IMMEDIATE = 0xCAFE_0102;
    private static final int LENGTH = 4096;
    /** Long enough to be posted by a plain downcall. */
    private static final int LONG = FfmPostingFunctions.CRITICAL_LIMIT_BYTES * 2;

    private final Completions completions = new Completions();
    private ConnectedPair pair;
    private Connection client;
    private Connection server;
    private LocalMemoryRegion mine;
    private LocalMemoryRegion others;
    private RemoteMemoryRegion remote;

    @BeforeEach
    void connect() {
        pair = ConnectedPair.ofDefaults();
        client = pair.client();
        server = pair.server();
        mine = pair.memory(LONG);
        others = pair.memory(LONG);
        remote = pair.remote(others);
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldWriteToTheOtherSidesMemory() {
        fill(mine);
        assertTrue(client.write(remote, 16, mine, 8, 100, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_WRITE);
        assertSame(others, 16, mine, 8, 100);
        assertEquals(0, others.memory().get(ValueLayout.JAVA_BYTE, 15));
        assertEquals(0, others.memory().get(ValueLayout.JAVA_BYTE, 116));
    }

    @Test
    void shouldReadTheOtherSidesMemory() {
        fill(others);
        assertTrue(client.read(mine, 8, remote, 16, LENGTH, CompletionFlag.ALWAYS, ID));
        final WorkCompletion completion = assertCompletes(WcOpcode.RDMA_READ);
        assertEquals(LENGTH, completion.lengthBytes());
        assertSame(mine, 8, others, 16, LENGTH);
    }

    @Test
    void shouldPostLongMessagesToo() {
        fill(mine);
        assertTrue(client.write(remote, 0, mine, 0, LONG, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_WRITE);
        assertSame(others, 0, mine, 0, LONG);
        mine.memory().fill((byte) 0);
        assertTrue(client.read(mine, 0, remote, 0, LONG, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_READ);
        assertSame(mine, 0, others, 0, LONG);
        others.memory().fill((byte) 0);
        assertTrue(server.receive(others, 0, LONG, 1));
        assertTrue(client.send(mine, 0, LONG, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.SEND);
        assertReceives(WcOpcode.RECV, LONG, false);
        assertSame(others, 0, mine, 0, LONG);
        assertTrue(server.receive(others, 0, LONG, 1));
        assertTrue(client.sendWithImmediate(mine, 0, LONG, CompletionFlag.ALWAYS, IMMEDIATE, ID));
        assertCompletes(WcOpcode.SEND);
        assertReceives(WcOpcode.RECV, LONG, true);
        assertTrue(server.receive(others, 0, 0, 1));
        assertTrue(client.writeWithImmediate(remote, 0, mine, 0, LONG, CompletionFlag.ALWAYS, IMMEDIATE, ID));
        assertCompletes(WcOpcode.RDMA_WRITE);
        assertReceives(WcOpcode.RECV_RDMA_WITH_IMM, LONG, true);
    }

    @Test
    void shouldSendMessagesToReceives() {
        fill(mine);
        assertTrue(server.receive(others, 32, LENGTH, 1));
        assertTrue(client.send(mine, 4, 100, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.SEND);
        assertReceives(WcOpcode.RECV, 100, false);
        assertSame(others, 32, mine, 4, 100);
    }

    @Test
    void shouldSendMessagesToReceivesInConsecutivePieces() {
        fill(mine);
        assertEquals(3, server.receive(others, 32, 128, 1, 3));
        for (int i = 0; i < 3; i++) {
            assertTrue(client.send(mine, i, 100, CompletionFlag.ALWAYS, ID));
            assertCompletes(WcOpcode.SEND);
            assertEquals(1 + i, completions.awaitOne(server.completionQueue()).workRequestId());
            assertSame(others, 32 + i * 128, mine, i, 100);
        }
    }

    @Test
    void shouldSendImmediateDataWithAMessage() {
        fill(mine);
        assertTrue(server.receive(others, 0, LENGTH, 1));
        assertTrue(client.sendWithImmediate(mine, 0, 8, CompletionFlag.ALWAYS, IMMEDIATE, ID));
        assertCompletes(WcOpcode.SEND);
        assertReceives(WcOpcode.RECV, 8, true);
        assertSame(others, 0, mine, 0, 8);
    }

    @Test
    void shouldSendImmediateDataWithAWrite() {
        fill(mine);
        assertTrue(server.receive(null, 0, 0, 1));
        assertTrue(client.writeWithImmediate(remote, 64, mine, 0, 16, CompletionFlag.ALWAYS, IMMEDIATE, ID));
        assertCompletes(WcOpcode.RDMA_WRITE);
        assertReceives(WcOpcode.RECV_RDMA_WITH_IMM, 16, true);
        assertSame(others, 64, mine, 0, 16);
    }

    @Test
    void shouldWriteEightBytesAtOnce() {
        assertTrue(client.atomicWrite(remote, 24, ID, CompletionFlag.ALWAYS, ID));
        completions.awaitOne(client.completionQueue());
        assertEquals(WcStatus.SUCCESS, completions.at(0).status());
        assertEquals(ID, others.memory().get(ValueLayout.JAVA_LONG, 24));
    }

    @Test
    void shouldFlushWritesUntilTheyAreVisible() {
        assertEquals(Set.of(FlushType.VISIBILITY, FlushType.PERSISTENT), remote.flushTypes());
        fill(mine);
        assertTrue(client.write(remote, 0, mine, 0, 64, CompletionFlag.ON_ERROR, 1));
        assertTrue(client.flush(remote, 0, 64, FlushType.VISIBILITY, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_READ);
        assertSame(others, 0, mine, 0, 64);
    }

    @Test
    void shouldFlushDownToPersistenceOnceThePeerIsKnownToSupportIt() {
        final RpmaException refused = org.junit.jupiter.api.Assertions.assertThrows(RpmaException.class,
            () -> client.flush(remote, 0, 64, FlushType.PERSISTENT, CompletionFlag.ALWAYS, ID));
        assertEquals(RpmaError.NOSUPP, refused.code());
        assertEquals("rpma_flush", refused.function());
        assertTrue(refused.getMessage().contains("direct write to persistent memory"), refused::getMessage);
        try (PeerConfig config = PeerConfig.create().directWriteToPmem(true);
            PeerConfig copy = PeerConfig.ofDescriptor(config.descriptor())) {
            assertTrue(copy.directWriteToPmem());
            client.applyRemotePeerConfig(copy);
        }
        assertTrue(client.flush(remote, 0, 64, FlushType.PERSISTENT, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_READ);
    }

    @Test
    void shouldPostMessagesOfNothing() {
        assertTrue(server.receive(null, 0, 0, 1));
        assertTrue(client.send(null, 0, 0, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.SEND);
        assertReceives(WcOpcode.RECV, 0, false);
        assertTrue(client.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_WRITE);
        assertTrue(client.read(null, 0, null, 0, 0, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_READ);
    }

    @Test
    void shouldCompleteOnlyWhatAsksForIt() {
        assertTrue(client.write(remote, 0, mine, 0, 8, CompletionFlag.ON_ERROR, 1));
        assertTrue(client.write(remote, 0, mine, 0, 8, CompletionFlag.ALWAYS, ID));
        assertCompletes(WcOpcode.RDMA_WRITE);
        assertEquals(0, client.completionQueue().poll(completions.records(), 0, 1));
    }

    @Test
    void shouldReceiveBeforeTheConnectionIsMade() {
        final String port = ConnectedPair.anyPort();
        final Peer peer = pair.peer();
        try (Endpoint endpoint = peer.listen(TestDevice.address(), port);
            Connection active = peer.request(TestDevice.address(), port).connect();
            Connection passive = acceptWithReceive(endpoint)) {
            assertEquals(ConnectionEvent.ESTABLISHED, active.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertEquals(ConnectionEvent.ESTABLISHED, passive.nextEvent(ConnectedPair.TIMEOUT_MS).orElseThrow());
            assertTrue(active.send(mine, 0, 8, CompletionFlag.ON_ERROR, ID));
            assertEquals(7, completions.awaitOne(passive.completionQueue()).workRequestId());
        }
    }

    private Connection acceptWithReceive(final Endpoint endpoint) {
        final ConnectionRequest request = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow();
        assertTrue(request.receive(others, 0, 8, 7));
        return request.connect();
    }

    private WorkCompletion assertCompletes(final int opcode) {
        final WorkCompletion completion = completions.awaitOne(client.completionQueue());
        assertEquals(WcStatus.SUCCESS, completion.status(), completion::toString);
        assertEquals(ID, completion.workRequestId());
        assertEquals(opcode, completion.opcode());
        assertEquals(client.queuePairNumber(), completion.queuePairNumber());
        return completion;
    }

    private void assertReceives(final int opcode, final int lengthBytes, final boolean withImmediate) {
        final WorkCompletion completion = completions.awaitOne(server.completionQueue());
        assertEquals(WcStatus.SUCCESS, completion.status(), completion::toString);
        assertEquals(1, completion.workRequestId());
        assertEquals(opcode, completion.opcode());
        assertEquals(lengthBytes, completion.lengthBytes());
        assertEquals(server.queuePairNumber(), completion.queuePairNumber());
        if (withImmediate) {
            assertEquals(IMMEDIATE, completion.immediate());
        } else {
            assertFalse(completion.hasImmediate());
        }
    }

    private static void fill(final LocalMemoryRegion region) {
        for (long i = 0; i < region.lengthBytes(); i += Integer.BYTES) {
            region.memory().set(ValueLayout.JAVA_INT, i, (int) i * 31 + 7);
        }
    }

    private static void assertSame(final LocalMemoryRegion one, final long offset, final LocalMemoryRegion other,
        final long otherOffset, final long lengthBytes) {
        assertEquals(-1, MemorySegment.mismatch(one.memory(), offset, offset + lengthBytes, other.memory(), otherOffset,
            otherOffset + lengthBytes));
    }
}
