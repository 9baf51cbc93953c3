package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.CompletionChannel;
import io.ringpoll.completion.VerbsCompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.internal.os.HugePages;
import io.ringpoll.os.Errno;
import io.ringpoll.os.OsException;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.testing.VerbsPair;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Protection domains, memory regions and completion queues: memory of all kinds, owners, and wrong arguments. */
@Tag(TestDevice.TAG)
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class VerbsMemoryTest {
    private static final Path HUGE_PAGES = Path.of("/proc/sys/vm/nr_hugepages");
    /** Those that the kernel reserves when they are asked for. */
    private static final Path MORE_HUGE_PAGES = Path.of("/proc/sys/vm/nr_overcommit_hugepages");
    private static final VerbsContext DEVICE = RdmaDevices.ofLocal(VerbsPair.address());

    @TempDir
    private Path folder;

    @Test
    void shouldAllocatePages() {
        try (ProtectionDomain domain = ProtectionDomain.create(DEVICE);
            MemoryRegion region = domain.allocate(100, VerbsPair.ALL)) {
            assertEquals(100, region.lengthBytes());
            assertEquals(0, region.memoryAddress() % 4096);
            assertEquals(0, region.memory().get(ValueLayout.JAVA_LONG, 0));
            assertNotEquals(0, region.localKey());
            assertEquals(region.remote(), RemoteMemory.of(region.remote().toBytes(), 0));
            assertThrows(IllegalStateException.class, domain::close);
        }
    }

    @Test
    void shouldRegisterAMappedFile() throws IOException {
        try (ProtectionDomain domain = ProtectionDomain.create(DEVICE);
            FileChannel file = FileChannel.open(folder.resolve("file"), StandardOpenOption.CREATE_NEW, StandardOpenOption.READ,
                StandardOpenOption.WRITE);
            Arena arena = Arena.ofShared()) {
            final MemorySegment mapped = file.map(FileChannel.MapMode.READ_WRITE, 0, 8192, arena);
            try (MemoryRegion region = domain.register(mapped, AccessFlag.LOCAL_WRITE)) {
                assertEquals(8192, region.lengthBytes());
                assertThrows(IllegalStateException.class, arena::close);
            }
        }
    }

    /** They must be there if the machine has free ones, as the Soft-RoCE guest, and they are given back. */
    @Test
    void shouldAllocateHugePagesOrNameTheirSetting() throws IOException {
        final long free = freeHugePages();
        try (ProtectionDomain domain = ProtectionDomain.create(DEVICE)) {
            try (MemoryRegion region = domain.allocateHugePages(100, AccessFlag.LOCAL_WRITE)) {
                assertEquals(0, region.memoryAddress() % HugePages.pageBytes());
                region.memory().set(ValueLayout.JAVA_LONG, 0, 1);
            } catch (final OsException none) {
                assertEquals(0, freeHugePages(), none::getMessage);
                assertEquals(Errno.ENOMEM, none.errno());
                assertTrue(none.getMessage().contains("vm.nr_hugepages"), none::getMessage);
            }
        }
        assertEquals(free, freeHugePages());
    }

    /** On any machine, also one that reserves none. */
    @Test
    void shouldNameTheSettingIfMoreHugePagesAreNeededThanTheMachineHas() throws IOException {
        assumeTrue(Files.exists(HUGE_PAGES), "this kernel has no huge pages");
        final long lengthBytes = (count(HUGE_PAGES) + count(MORE_HUGE_PAGES) + 1) * HugePages.pageBytes();
        try (ProtectionDomain domain = ProtectionDomain.create(DEVICE)) {
            final OsException none = assertThrows(OsException.class, () -> domain.allocateHugePages(lengthBytes));
            assertEquals(Errno.ENOMEM, none.errno());
            assertTrue(none.getMessage().contains("huge pages of " + HugePages.pageBytes() + " bytes (are so many reserved and" +
                " free? 'sysctl vm.nr_hugepages')"), none::getMessage);
            domain.allocate(64).close();
        }
    }

    private static long freeHugePages() throws IOException {
        try (Stream<String> lines = Files.lines(Path.of("/proc/meminfo"))) {
            return lines.filter(line -> line.startsWith("HugePages_Free:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", ""))).sum();
        }
    }

    private static long count(final Path setting) throws IOException {
        return Long.parseLong(Files.readString(setting).strip());
    }

    @Test
    void shouldRefuseMemoryThatTheDeviceCannotUse() {
        try (ProtectionDomain domain = ProtectionDomain.create(DEVICE); Arena confined = Arena.ofConfined();
            Arena shared = Arena.ofShared()) {
            final MemorySegment memory = shared.allocate(64);
            assertThrows(IllegalArgumentException.class, () -> domain.register(MemorySegment.ofArray(new byte[64])));
            assertThrows(IllegalArgumentException.class, () -> domain.register(confined.allocate(64)));
            assertThrows(IllegalArgumentException.class, () -> domain.register(memory.asSlice(0, 0)));
            assertThrows(IllegalArgumentException.class, () -> domain.register(memory.asReadOnly(), AccessFlag.LOCAL_WRITE));
            assertThrows(IllegalArgumentException.class, () -> domain.register(memory, AccessFlag.REMOTE_WRITE));
            assertThrows(IllegalArgumentException.class, () -> domain.allocate(0));
            assertThrows(IllegalArgumentException.class, () -> domain.allocateHugePages(-1));
            domain.register(memory.asReadOnly()).close();
            domain.register(memory, AccessFlag.LOCAL_WRITE, AccessFlag.RELAXED_ORDERING).close();
        }
    }

    @Test
    void shouldRefuseCallsOnAClosedDomain() {
        final ProtectionDomain domain = ProtectionDomain.create(DEVICE);
        domain.close();
        domain.close();
        assertThrows(IllegalStateException.class, () -> domain.allocate(64));
        assertThrows(IllegalStateException.class, () -> SharedReceiveQueue.create(domain, 1, 1));
    }

    @Test
    void shouldCreateACompletionQueueOnAVectorWithAChannel() {
        try (CompletionChannel channel = CompletionChannel.create(DEVICE);
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(DEVICE, "queue", 16, channel, 0)) {
            assertTrue(queue.capacity() >= 16);
        }
        assertThrows(IllegalArgumentException.class,
            () -> VerbsCompletionQueue.create(DEVICE, "queue", 16, null, DEVICE.completionVectors()));
        assertThrows(IllegalArgumentException.class, () -> VerbsCompletionQueue.create(DEVICE, "queue", 16, null, -1));
    }

    @Test
    void shouldWakeAWaiterByTheChannel() {
        try (VerbsPair pair = VerbsPair.ofDefaults(); Listener listener = Listener.listen(VerbsPair.anyAddress(), 1);
            ConnectionId client = ConnectionId.resolve(VerbsPair.at(listener), VerbsPair.TIMEOUT_MS);
            CompletionChannel channel = CompletionChannel.create(client.context());
            VerbsCompletionQueue queue = VerbsCompletionQueue.create(client.context(), "waited for", 16, channel);
            QueuePair queuePair = client.createQueuePair(pair.domain(), QueuePairAttributes.create(queue))) {
            client.connect(ConnectionParameters.create());
            listener.nextRequest(VerbsPair.TIMEOUT_MS).orElseThrow().close();
            VerbsPair.await(client, ConnectionEventType.REJECTED);
            queue.requestNotification(false);
            final SendList list = pair.one(pair.memory(64), 0, 8);
            list.send(0, SendFlag.SIGNALED);
            try {
                // The rejected queue pair is in the error state: the request is flushed.
                assertEquals(1, queuePair.postSend(list));
                assertEquals(queue, channel.await(VerbsPair.TIMEOUT_MS));
                pair.next(queue);
            } catch (final PostException refused) {
                assertEquals(Errno.EINVAL, refused.errno());
            }
        }
    }
}
