package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every kind of request, by prepared lists, between two queue pairs. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsOperationsTest {
    private static final int ELEMENTS = 16;
    private static final long NUMBER = 0x0123_4567_89AB_CDEFL;

    private VerbsPair pair;
    private MemoryRegion source;
    private MemoryRegion target;

    @BeforeEach
    void connect() {
        pair = VerbsPair.of(attributes -> attributes.maxSendElements(ELEMENTS).maxReceiveElements(2).maxInlineBytes(64));
        source = pair.memory(4096, VerbsPair.ALL);
        target = pair.memory(4096, VerbsPair.ALL);
        source.memory().set(ValueLayout.JAVA_LONG, 0, NUMBER);
    }

    @AfterEach
    void disconnect() {
        pair.close();
    }

    @Test
    void shouldSend() {
        pair.receive(pair.server(), target, 64);
        final SendList list = pair.one(source, 0, 8);
        list.send(0, SendFlag.SIGNALED);
        list.workRequestId(0, 42);
        assertEquals(1, pair.client().postSend(list));
        final WorkCompletion sent = pair.nextSuccess(pair.client().sendQueue());
        assertEquals(42, sent.workRequestId());
        assertEquals(WcOpcode.SEND, sent.opcode());
        assertEquals(pair.client().number(), sent.queuePairNumber());
        final WorkCompletion received = pair.nextSuccess(pair.server().receiveQueue());
        assertEquals(8, received.lengthBytes());
        assertEquals(WcOpcode.RECV, received.opcode());
        assertEquals(NUMBER, numberAt(0));
    }

    @Test
    void shouldSendWithImmediateData() {
        pair.receive(pair.server(), target, 64);
        final SendList list = pair.one(source, 0, 8);
        list.sendWithImmediate(0, SendFlag.SIGNALED, SendFlag.SOLICITED);
        list.immediate(0, 0x0102_0304);
        assertEquals(1, pair.client().postSend(list));
        pair.nextSuccess(pair.client().sendQueue());
        assertEquals(0x0102_0304, pair.nextSuccess(pair.server().receiveQueue()).immediate());
    }

    @Test
    void shouldSendNothing() {
        pair.receive(pair.server(), target, 0);
        try (SendList list = SendList.allocate(1, 0)) {
            list.send(0, SendFlag.SIGNALED);
            assertEquals(1, pair.client().postSend(list));
            pair.nextSuccess(pair.client().sendQueue());
            assertEquals(0, pair.nextSuccess(pair.server().receiveQueue()).lengthBytes());
        }
    }

    @Test
    void shouldWriteAtAnOffset() {
        final SendList list = pair.one(source, 0, 8);
        list.write(0, target.remote(), SendFlag.SIGNALED);
        list.remoteOffset(0, 128);
        assertEquals(1, pair.client().postSend(list));
        assertEquals(WcOpcode.RDMA_WRITE, pair.nextSuccess(pair.client().sendQueue()).opcode());
        assertEquals(NUMBER, numberAt(128));
    }

    @Test
    void shouldWriteWithImmediateData() {
        pair.receive(pair.server(), target, 0);
        final SendList list = pair.one(source, 0, 8);
        list.writeWithImmediate(0, target.remote(), SendFlag.SIGNALED);
        list.immediate(0, -7);
        assertEquals(1, pair.client().postSend(list));
        pair.nextSuccess(pair.client().sendQueue());
        final WorkCompletion received = pair.nextSuccess(pair.server().receiveQueue());
        assertEquals(WcOpcode.RECV_RDMA_WITH_IMM, received.opcode());
        assertEquals(-7, received.immediate());
        assertEquals(NUMBER, numberAt(0));
    }

    @Test
    void shouldRead() {
        final SendList list = pair.one(target, 256, 8);
        list.read(0, source.remote(), SendFlag.SIGNALED);
        assertEquals(1, pair.client().postSend(list));
        assertEquals(WcOpcode.RDMA_READ, pair.nextSuccess(pair.client().sendQueue()).opcode());
        assertEquals(NUMBER, numberAt(256));
    }

    @Test
    void shouldFetchAndAdd() {
        final SendList list = pair.one(target, 0, 8);
        list.fetchAndAdd(0, source.remote(), SendFlag.SIGNALED);
        list.operands(0, 5, 0);
        assertEquals(1, pair.client().postSend(list));
        assertEquals(WcOpcode.FETCH_ADD, pair.nextSuccess(pair.client().sendQueue()).opcode());
        assertEquals(NUMBER, numberAt(0));
        assertEquals(NUMBER + 5, source.memory().get(ValueLayout.JAVA_LONG, 0));
    }

    @Test
    void shouldCompareAndSwap() {
        final SendList list = pair.one(target, 0, 8);
        list.compareAndSwap(0, source.remote(), SendFlag.SIGNALED, SendFlag.FENCE);
        list.operands(0, NUMBER, 11);
        assertEquals(1, pair.client().postSend(list));
        assertEquals(WcOpcode.COMP_SWAP, pair.nextSuccess(pair.client().sendQueue()).opcode());
        list.operands(0, NUMBER, 12);
        assertEquals(1, pair.client().postSend(list));
        pair.nextSuccess(pair.client().sendQueue());
        assertEquals(11, numberAt(0));
        assertEquals(11, source.memory().get(ValueLayout.JAVA_LONG, 0));
    }

    @Test
    void shouldSendInlineDataThatIsOverwrittenAfterThePost() {
        pair.receive(pair.server(), target, 64);
        final SendList list = pair.one(source, 0, 8);
        list.send(0, SendFlag.SIGNALED, SendFlag.INLINE);
        assertEquals(1, pair.client().postSend(list));
        source.memory().set(ValueLayout.JAVA_LONG, 0, 0L);
        pair.nextSuccess(pair.client().sendQueue());
        pair.nextSuccess(pair.server().receiveQueue());
        assertEquals(NUMBER, numberAt(0));
    }

    @Test
    void shouldGatherSixteenPiecesOfTwoRegions() {
        final MemoryRegion other = pair.memory(64);
        final SendList list = pair.closed(SendList.allocate(1, ELEMENTS));
        final MemoryRegion[] regions = new MemoryRegion[ELEMENTS];
        for (int i = 0; i < ELEMENTS; i++) {
            regions[i] = i % 2 == 0 ? source : other;
        }
        list.write(0, target.remote(), SendFlag.SIGNALED);
        list.elements(0, regions);
        for (int i = 0; i < ELEMENTS; i++) {
            regions[i].memory().set(ValueLayout.JAVA_BYTE, ELEMENTS - i, (byte) (i + 1));
            list.element(0, i, ELEMENTS - i, 1);
        }
        assertEquals(1, pair.client().postSend(list));
        pair.nextSuccess(pair.client().sendQueue());
        for (int i = 0; i < ELEMENTS; i++) {
            assertEquals(i + 1, target.memory().get(ValueLayout.JAVA_BYTE, i));
        }
    }

    @Test
    void shouldScatterAMessage() {
        final ReceiveList list = pair.closed(ReceiveList.allocate(1, 2));
        list.elements(0, target, target);
        list.element(0, 0, 100, 3);
        list.element(0, 1, 200, 5);
        assertEquals(1, pair.server().postReceive(list));
        final SendList message = pair.one(source, 0, 8);
        message.send(0, SendFlag.SIGNALED);
        assertEquals(1, pair.client().postSend(message));
        pair.nextSuccess(pair.client().sendQueue());
        assertEquals(8, pair.nextSuccess(pair.server().receiveQueue()).lengthBytes());
        assertEquals(source.memory().get(ValueLayout.JAVA_BYTE, 2), target.memory().get(ValueLayout.JAVA_BYTE, 102));
        assertEquals(source.memory().get(ValueLayout.JAVA_BYTE, 3), target.memory().get(ValueLayout.JAVA_BYTE, 200));
    }

    @Test
    void shouldCompleteOnlySignaledRequests() {
        final SendList list = pair.closed(SendList.allocate(8, 1));
        for (int i = 0; i < 8; i++) {
            list.write(i, target.remote());
            list.elements(i, source);
            list.element(i, 0, 0, 8);
            list.remoteOffset(i, i * 8);
            list.workRequestId(i, i);
        }
        list.signaled(7, true);
        for (int round = 0; round < 100; round++) {
            assertEquals(8, pair.client().postSend(list));
            assertEquals(7, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
            pair.assertEmpty(pair.client().sendQueue());
        }
        assertEquals(NUMBER, numberAt(56));
    }

    @Test
    void shouldCompleteAllRequestsOfAQueuePairThatSignalsAll() {
        try (VerbsPair signalling = VerbsPair.of(attributes -> attributes.signalAll(true))) {
            final MemoryRegion memory = signalling.memory(64, VerbsPair.ALL);
            final SendList list = signalling.one(memory, 0, 8);
            list.write(0, memory.remote());
            assertEquals(1, signalling.client().postSend(list));
            signalling.nextSuccess(signalling.client().sendQueue());
        }
    }

    @Test
    void shouldPostALongMessage() {
        final long lengthBytes = 300_000;
        final MemoryRegion from = pair.memory(lengthBytes);
        final MemoryRegion to = pair.memory(lengthBytes, VerbsPair.ALL);
        from.memory().set(ValueLayout.JAVA_BYTE, lengthBytes - 1, (byte) 9);
        final SendList list = pair.one(from, 0, lengthBytes);
        list.write(0, to.remote(), SendFlag.SIGNALED);
        assertEquals(1, pair.client().postSend(list));
        pair.nextSuccess(pair.client().sendQueue());
        assertEquals(9, to.memory().get(ValueLayout.JAVA_BYTE, lengthBytes - 1));
    }

    @Test
    void shouldTakeReceivesFromASharedQueue() {
        try (Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId client = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            VerbsCompletionQueue sends = VerbsCompletionQueue.create(client.context(), "sends", 16, null);
            VerbsCompletionQueue receives = VerbsCompletionQueue.create(client.context(), "receives", 16, null);
            SharedReceiveQueue shared = SharedReceiveQueue.create(pair.domain(), 8, 1);
            QueuePair from = client.createQueuePair(pair.domain(), QueuePairAttributes.create(sends))) {
            client.connect(ConnectionParameters.create());
            try (ConnectionId server = listener.nextRequest(VerbsPair.TIMEOUT_MS).orElseThrow();
                QueuePair to = server.createQueuePair(pair.domain(),
                    QueuePairAttributes.create(receives).sharedReceiveQueue(shared))) {
                server.accept(ConnectionParameters.create());
                VerbsPair.await(client, ConnectionEventType.ESTABLISHED);
                VerbsPair.await(server, ConnectionEventType.ESTABLISHED);
                final ReceiveList list = pair.receives(2, target, 64);
                assertEquals(2, shared.postReceive(list));
                final SendList message = pair.one(source, 0, 8);
                message.send(0, SendFlag.SIGNALED);
                assertEquals(1, from.postSend(message));
                pair.nextSuccess(sends);
                final WorkCompletion received = pair.nextSuccess(receives);
                assertEquals(WcStatus.SUCCESS, received.status());
                assertEquals(to.number(), received.queuePairNumber());
                assertTrue(shared.maxRequests() >= 8);
            }
        }
    }

    private long numberAt(final long offset) {
        return target.memory().get(ValueLayout.JAVA_LONG_UNALIGNED, offset);
    }
}
