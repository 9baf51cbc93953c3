package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Posts of single requests without a list. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SingleRequestTest {
    private static final int LENGTH = 64;
    private static final long WORD = 0x0102_0304_0506_0708L;
    private static final int IMMEDIATE = 0x8765_4321;

    @Test
    void shouldWriteAndReadBack() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion own = pair.memory(LENGTH, VerbsPair.ALL);
            final RemoteMemory remote = pair.memory(LENGTH, VerbsPair.ALL).remote();
            own.memory().set(ValueLayout.JAVA_LONG, 8, WORD);
            assertTrue(pair.client().write(remote, 16, own, 8, Long.BYTES, false, 1));
            assertTrue(pair.client().read(own, 32, remote, 16, Long.BYTES, true, 2));
            final WorkCompletion completion = pair.nextSuccess(pair.client().sendQueue());
            assertEquals(2, completion.workRequestId());
            assertEquals(WcOpcode.RDMA_READ, completion.opcode());
            assertEquals(WORD, own.memory().get(ValueLayout.JAVA_LONG, 32));
            pair.assertEmpty(pair.client().sendQueue());
        }
    }

    @Test
    void shouldSendAndReceiveWithImmediateData() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion own = pair.memory(LENGTH);
            final MemoryRegion other = pair.memory(LENGTH, VerbsPair.ALL);
            for (int i = 0; i < 3; i++) {
                assertTrue(pair.server().receive(other, 0, LENGTH, i));
            }
            assertTrue(pair.client().send(own, 0, 24, true, 5));
            assertTrue(pair.client().sendWithImmediate(null, 0, 0, true, IMMEDIATE, 6));
            assertTrue(pair.client().writeWithImmediate(other.remote(), 0, own, 0, 8, true, IMMEDIATE, 7));
            for (int i = 0; i < 3; i++) {
                assertEquals(5 + i, pair.nextSuccess(pair.client().sendQueue()).workRequestId());
                final WorkCompletion received = pair.nextSuccess(pair.server().receiveQueue());
                assertEquals(i, received.workRequestId());
                assertEquals(i == 0 ? 24 : i == 1 ? 0 : 8, received.lengthBytes());
                assertEquals(i > 0, received.hasImmediate());
                assertEquals(i == 0 ? 0 : IMMEDIATE, i == 0 ? 0 : received.immediate());
            }
        }
    }

    @Test
    void shouldReturnFalseWhenTheQueueOrItsBudgetIsFull() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxReceiveRequests(4))) {
            final MemoryRegion own = pair.memory(LENGTH, VerbsPair.ALL);
            int accepted = 0;
            while (pair.client().receive(own, 0, LENGTH, accepted)) {
                accepted++;
            }
            assertTrue(accepted >= 4);
            final int room = pair.client().receiveQueue().budget().inFlight();
            assertEquals(accepted, room, "a refused receive is counted");
            assertFalse(pair.client().receive(own, 0, LENGTH, accepted));
        }
    }

    @Test
    void shouldRefuseWrongPiecesAndClosedRegionsBeforeTheCall() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final QueuePair client = pair.client();
            final MemoryRegion own = pair.memory(LENGTH, VerbsPair.ALL);
            final RemoteMemory remote = own.remote();
            assertThrows(IndexOutOfBoundsException.class, () -> client.send(own, 1, LENGTH, true, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.send(own, -1, 1, true, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.write(remote, LENGTH, own, 0, 1, true, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.read(own, 0, remote, -1, 1, true, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> client.receive(own, 0, LENGTH + 1, 1));
            assertThrows(IllegalArgumentException.class, () -> client.send(null, 0, 1, true, 1));
            assertThrows(IllegalArgumentException.class, () -> client.send(own, 0, (1L << 31) + 1, true, 1));
            assertThrows(NullPointerException.class, () -> client.write(null, 0, own, 0, 1, true, 1));
            own.close();
            assertTrue(assertThrows(IllegalStateException.class, () -> client.send(own, 0, 1, true, 1)).getMessage()
                .contains(own.name()));
            assertThrows(IllegalStateException.class, () -> client.receive(own, 0, 1, 1));
            assertEquals(0, client.sendQueue().budget().inFlight());
            assertEquals(0, client.receiveQueue().budget().inFlight());
        }
    }

    @Test
    void shouldRefuseMemoryOfAnotherProtectionDomain() {
        try (VerbsPair pair = VerbsPair.ofDefaults();
            ProtectionDomain foreign = ProtectionDomain.create(pair.clientId().context());
            MemoryRegion other = foreign.allocate(LENGTH, VerbsPair.ALL)) {
            final QueuePair client = pair.client();
            final RemoteMemory remote = pair.memory(LENGTH, VerbsPair.ALL).remote();
            for (final Executable post : List.<Executable>of(() -> client.send(other, 0, 8, true, 1),
                () -> client.write(remote, 0, other, 0, 8, true, 1), () -> client.read(other, 0, remote, 0, 8, true, 1),
                () -> client.receive(other, 0, 8, 1))) {
                assertEquals(other.name() + " is of another protection domain than " + client.name(),
                    assertThrows(IllegalArgumentException.class, post).getMessage());
            }
            pair.assertEmpty(client.sendQueue());
            assertEquals(0, client.sendQueue().budget().inFlight());
            assertEquals(0, client.receiveQueue().budget().inFlight());
        }
    }

    @Test
    void shouldRefuseMemoryIfTheQueuePairTakesNone() {
        try (VerbsPair pair = VerbsPair.of(attributes -> attributes.maxSendElements(0).maxReceiveElements(0))) {
            final QueuePair client = pair.client();
            assumeTrue(client.maxSendElements() == 0 && client.maxReceiveElements() == 0, "the device grants more");
            final MemoryRegion own = pair.memory(LENGTH, VerbsPair.ALL);
            assertTrue(assertThrows(IllegalArgumentException.class, () -> client.send(own, 0, 1, true, 1)).getMessage()
                .endsWith("takes no memory with a request: create it with maxSendElements(1)"));
            assertTrue(assertThrows(IllegalArgumentException.class, () -> client.receive(own, 0, 1, 1)).getMessage()
                .endsWith("takes no memory with a request: create it with maxReceiveElements(1)"));
            assertEquals(0, client.sendQueue().budget().inFlight());
        }
    }

    @Test
    void shouldFlushByTheDisconnectAReceiveThatIsPostedAfterAnError() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion own = pair.memory(LENGTH, VerbsPair.ALL);
            final RemoteMemory wrong = new RemoteMemory(own.memoryAddress(), LENGTH, own.remoteKey() + 1);
            assertTrue(pair.client().write(wrong, 0, own, 0, 8, true, 1));
            assertEquals(WcStatus.REM_ACCESS_ERR, pair.next(pair.client().sendQueue()).status());
            assertTrue(pair.client().receive(own, 0, LENGTH, 2));
            // Soft-RoCE completes it now, the others before.
            pair.clientId().disconnect();
            final WorkCompletion flushed = pair.next(pair.client().receiveQueue());
            assertEquals(2, flushed.workRequestId());
            assertEquals(WcStatus.WR_FLUSH_ERR, flushed.status());
            assertEquals(0, pair.client().receiveQueue().budget().inFlight());
        }
    }

    @Test
    void shouldCompleteARequestThatIsNotSignaledOnlyIfItFails() {
        try (VerbsPair pair = VerbsPair.ofDefaults()) {
            final MemoryRegion own = pair.memory(LENGTH, VerbsPair.ALL);
            final RemoteMemory wrong = new RemoteMemory(own.memoryAddress(), LENGTH, own.remoteKey() + 1);
            assertTrue(pair.client().write(own.remote(), 0, own, 0, 8, false, 1));
            assertTrue(pair.client().write(wrong, 0, own, 0, 8, false, 2));
            final WorkCompletion failed = pair.next(pair.client().sendQueue());
            assertEquals(2, failed.workRequestId());
            assertEquals(WcStatus.REM_ACCESS_ERR, failed.status());
        }
    }
}
