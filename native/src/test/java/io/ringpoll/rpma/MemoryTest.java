package io.ringpoll.rpma;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.testing.Completions;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verbs.WcStatus;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Regions, descriptors, configurations: what goes in comes out, and the device has the last word. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MemoryTest {
    private static final int DESCRIPTOR_BYTES = 21;
    private static final int LENGTH_OFFSET = 8;

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
    void shouldTellOfOnDemandPagingAndTakeAdviceOnlyWhereThereIsSome() {
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
    void shouldRefuseAReceiveBeforeTheConnectionThatHasNoRegion() {
        try (Peer peer = Peer.ofLocal(TestDevice.address());
            ConnectionRequest request = peer.request(TestDevice.address(), ConnectedPair.anyPort())) {
            assertThrows(IllegalArgumentException.class, () -> request.receive(null, 0, 0, 1));
        }
    }

    @Test
    void shouldKeepWhatAConfigurationIsTold() {
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
}
