package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcStatus;
import io.ringpoll.internal.os.MachineMemory;
import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** Regions, descriptors, configurations: values round-trip, and the device validates them. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MemoryTest {
    private static final int DESCRIPTOR_BYTES = 21;
    private static final int LENGTH_OFFSET = 8;
    /** So long that free(3) returns it to the system. */
    private static final int LARGE_BYTES = 1 << 20;
    private static final long UNMAPPED_ADDRESS = 4096;

    @Test
    void shouldDescribeARegionToTheOtherSide() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion region = peer.allocate(4096, MemoryUsage.READ_SOURCE, MemoryUsage.FLUSH_VISIBILITY)) {
            final byte[] descriptor = region.descriptor();
            assertEquals(DESCRIPTOR_BYTES, descriptor.length);
            assertEquals(region.memoryAddress(), ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN).getLong());
            try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(descriptor)) {
                assertEquals(4096, remote.lengthBytes());
                assertEquals(Set.of(FlushType.VISIBILITY), remote.flushTypes());
            }
        }
    }

    @Test
    void shouldLetTheDeviceRefuseWhatADescriptorPromisesTooMuch() {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion source = pair.memory(256);
            final byte[] descriptor = pair.memory(128).descriptor();
            ByteBuffer.wrap(descriptor).order(ByteOrder.LITTLE_ENDIAN).putLong(LENGTH_OFFSET, 256);
            try (RemoteMemoryRegion remote = RemoteMemoryRegion.ofDescriptor(descriptor)) {
                assertTrue(pair.client().write(remote, 64, source, 0, 128, CompletionFlag.ON_ERROR, 5));
                assertEquals(WcStatus.REM_ACCESS_ERR, completions.awaitOne(pair.client().completionQueue()).status());
                assertEquals(5, completions.at(0).workRequestId());
                assertEquals(pair.client().queuePairNumber(), completions.at(0).queuePairNumber());
            }
        }
    }

    @Test
    void shouldLetTheDeviceRefuseWhatARegionIsNotRegisteredFor() {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion source = pair.memory(256);
            final RemoteMemoryRegion readOnly = pair.remote(pair.memory(256, MemoryUsage.READ_SOURCE));
            assertTrue(pair.client().write(readOnly, 0, source, 0, 128, CompletionFlag.ON_ERROR, 5));
            assertEquals(WcStatus.REM_ACCESS_ERR, completions.awaitOne(pair.client().completionQueue()).status());
        }
    }

    @Test
    void shouldLetAPeerReadARegionThatItMayFlush() {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion destination = pair.memory(256);
            for (final MemoryUsage flush : Set.of(MemoryUsage.FLUSH_VISIBILITY, MemoryUsage.FLUSH_PERSISTENT)) {
                final RemoteMemoryRegion flushed = pair.remote(pair.memory(256, flush));
                assertTrue(pair.client().read(destination, 0, flushed, 0, 128, CompletionFlag.ALWAYS, 5));
                assertEquals(WcStatus.SUCCESS, completions.awaitOne(pair.client().completionQueue()).status());
            }
        }
    }

    @Test
    void shouldReportOnDemandPagingAndAcceptAdviceOnlyWithIt() {
        try (LogCapture log = new LogCapture(); Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion region = peer.allocate(8192, MemoryUsage.SEND)) {
            assertNotNull(log);
            assertTrue(peer.isOdpCapable() || !TestDevice.isLoopback(), "the loopback device has on-demand paging");
            if (peer.isOdpCapable()) {
                region.advise(4096, 4096, MemoryAdvice.PREFETCH, true);
            } else {
                final RpmaException refused =
                    assertThrows(RpmaException.class, () -> region.advise(4096, 4096, MemoryAdvice.PREFETCH, true));
                assertEquals(RpmaError.NOSUPP, refused.code(), refused::getMessage);
            }
        }
    }

    @Test
    void shouldRefuseAdviceThatCDoesNotSeeWhole() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion region = peer.allocate(8192, MemoryUsage.SEND)) {
            assertThrows(IndexOutOfBoundsException.class, () -> region.advise(4096, 4097, MemoryAdvice.PREFETCH, false));
            assertThrows(IndexOutOfBoundsException.class, () -> region.advise(0, 1L << 33, MemoryAdvice.PREFETCH, false));
        }
    }

    @Test
    void shouldRefuseMemoryThatIsGone() {
        final Arena arena = Arena.ofConfined();
        final MemorySegment memory = arena.allocate(4096);
        arena.close();
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final IllegalArgumentException refused =
                assertThrows(IllegalArgumentException.class, () -> peer.register(memory, MemoryUsage.SEND));
            assertTrue(refused.getMessage().contains("closed"), refused::getMessage);
        }
    }

    @Test
    void shouldRefuseMemoryThatIsConfinedToAThread() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Arena arena = Arena.ofConfined()) {
            final IllegalArgumentException refused = assertThrows(
                IllegalArgumentException.class, () -> peer.register(arena.allocate(4096), MemoryUsage.SEND));
            assertTrue(refused.getMessage().contains("confined"), refused::getMessage);
        }
    }

    @Test
    void shouldKeepAnArenaOpenForAsLongAsARegionUsesItsMemory() {
        final Completions completions = new Completions();
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(LARGE_BYTES, Long.BYTES);
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion first = pair.peer().register(memory.asSlice(0, 4096), MemoryUsage.SEND);
            final LocalMemoryRegion second = pair.peer().register(memory, MemoryUsage.RECEIVE);
            // The state of a receive in the device is unknown until it completes.
            assertTrue(pair.server().receive(second, 0, LARGE_BYTES, 1));
            assertThrows(IllegalStateException.class, arena::close);
            first.close();
            assertThrows(IllegalStateException.class, arena::close);
            assertTrue(memory.scope().isAlive());
            final LocalMemoryRegion source = pair.memory(LARGE_BYTES);
            source.memory().fill((byte) 7);
            assertTrue(pair.client().send(source, 0, LARGE_BYTES, CompletionFlag.ALWAYS, 2));
            completions.awaitOne(pair.server().completionQueue());
            assertEquals(7, memory.get(ValueLayout.JAVA_BYTE, LARGE_BYTES - 1));
            second.close();
            arena.close();
            assertThrows(IllegalArgumentException.class, () -> pair.peer().register(memory, MemoryUsage.SEND));
        }
    }

    @Test
    @SuppressWarnings("restricted")
    void shouldRetainNoMemoryOfARegistrationThatFails() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); Arena arena = Arena.ofShared()) {
            final MemorySegment nowhere = MemorySegment.ofAddress(UNMAPPED_ADDRESS).reinterpret(4096, arena, null);
            assertThrows(RpmaException.class, () -> peer.register(nowhere, MemoryUsage.SEND));
            assertThrows(IllegalArgumentException.class, () -> peer.register(arena.allocate(4096)));
        }
    }

    @Test
    void shouldTakeAPieceThatFitsExactlyAndNoneThatIsLonger() {
        final Completions completions = new Completions();
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final LocalMemoryRegion local = pair.memory(128);
            final RemoteMemoryRegion remote = pair.remote(pair.memory(64));
            assertTrue(pair.client().write(remote, 24, local, 88, 40, CompletionFlag.ALWAYS, 1));
            assertEquals(WcStatus.SUCCESS, completions.awaitOne(pair.client().completionQueue()).status());
            assertOutside(() -> pair.client().write(remote, 25, local, 0, 40, CompletionFlag.ALWAYS, 1));
            assertOutside(() -> pair.client().write(remote, 0, local, 89, 40, CompletionFlag.ALWAYS, 1));
            assertOutside(() -> pair.client().write(remote, 0, local, -1, 40, CompletionFlag.ALWAYS, 1));
            assertOutside(() -> pair.client().write(remote, -1, local, 0, 40, CompletionFlag.ALWAYS, 1));
            assertOutside(() -> pair.client().write(remote, 0, local, 0, -1, CompletionFlag.ALWAYS, 1));
            assertOutside(() -> pair.client().write(remote, 0, local, Long.MAX_VALUE, 1, CompletionFlag.ALWAYS, 1));
            assertOutside(() -> pair.server().receive(local, 0, -1, 1));
            assertOutside(() -> pair.client().send(local, 64, -64, CompletionFlag.ALWAYS, 1));
            assertEquals(0, pair.client().completionQueue().budget().inFlight());
        }
    }

    private static void assertOutside(final Executable post) {
        assertThrows(IndexOutOfBoundsException.class, post);
    }

    @Test
    void shouldRefuseAReceiveBeforeTheConnectionThatHasNoRegion() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            ConnectionRequest request = peer.request(TestDevice.address(), ConnectedPair.anyPort())) {
            assertThrows(IllegalArgumentException.class, () -> request.receive(null, 0, 0, 1));
        }
    }

    @Test
    void shouldCheckAReceiveBeforeTheConnection() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            LocalMemoryRegion region = peer.allocate(64, MemoryUsage.RECEIVE);
            Endpoint endpoint = peer.listen(TestDevice.address(), "0");
            Connection client = peer.request(TestDevice.address(), Integer.toString(endpoint.port())).connect();
            ConnectionRequest request = endpoint.nextRequest(ConnectedPair.TIMEOUT_MS).orElseThrow()) {
            assertThrows(IndexOutOfBoundsException.class, () -> request.receive(region, 57, 8, 1));
            assertThrows(IndexOutOfBoundsException.class, () -> request.receive(region, -1, 8, 1));
            assertThrows(IllegalArgumentException.class, () -> request.receive(region, 0, Posts.MAX_MESSAGE_BYTES + 1, 1));
            assertTrue(request.receive(region, 56, 8, 1));
            assertFalse(client.isClosed());
        }
    }

    @Test
    void shouldReturnTheConfiguredValues() {
        try (ConnectionConfig config = ConnectionConfig.create()) {
            assertEquals(1000, config.timeoutMs());
            assertEquals(0, config.rcqSize());
            assertFalse(config.sharedCompletionChannel());
            assertNull(config.sharedReceiveQueue());
            config.timeoutMs(5).cqSize(6).rcqSize(7).sqSize(8).rqSize(9).sharedCompletionChannel(true);
            assertArrayEquals(new int[] {5, 6, 7, 8, 9}, new int[] {
                config.timeoutMs(), config.cqSize(), config.rcqSize(), config.sqSize(), config.rqSize()});
            assertTrue(config.sharedCompletionChannel());
            assertThrows(IllegalArgumentException.class, () -> config.cqSize(-1));
            assertThrows(IllegalArgumentException.class, () -> config.cqSize(0));
            assertThrows(IllegalArgumentException.class, () -> config.timeoutMs(-1));
            assertThrows(IllegalArgumentException.class, () -> config.rqSize(-1));
            assertEquals(0, config.timeoutMs(0).timeoutMs());
            assertEquals(0, config.rcqSize(0).rcqSize());
        }
        try (SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(3).rcqSize(4)) {
            assertEquals(3, config.rqSize());
            assertEquals(4, config.rcqSize());
        }
        try (PeerConfig config = PeerConfig.create()) {
            assertFalse(config.directWriteToPmem());
            assertTrue(config.directWriteToPmem(true).directWriteToPmem());
            assertEquals(1, config.descriptor().length);
        }
    }

    @Test
    void shouldRefuseSizesThatNoMachineHas() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            for (final long lengthBytes : new long[] {0, -1, Long.MIN_VALUE}) {
                assertEquals("a memory region of " + lengthBytes + " bytes: at least 1 is needed", assertThrows(
                    IllegalArgumentException.class, () -> peer.allocate(lengthBytes, MemoryUsage.SEND)).getMessage());
            }
            for (final long lengthBytes : new long[] {1L << 50, Long.MAX_VALUE - 4095, Long.MAX_VALUE}) {
                final String message = assertThrows(
                    IllegalArgumentException.class, () -> peer.allocate(lengthBytes, MemoryUsage.SEND)).getMessage();
                assertEquals("a memory region of " + lengthBytes + " bytes is larger than the " + MachineMemory.limit().name() +
                    ", " + MachineMemory.limit().bytes() + " bytes, in which it is pinned: ask for less", message);
            }
        }
    }
}
