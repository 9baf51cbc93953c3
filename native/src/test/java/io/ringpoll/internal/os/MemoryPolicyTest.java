package io.ringpoll.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.os.Errno;
import io.ringpoll.os.OsException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory by NUMA node, as the kernel sees it; node 0 is on every machine that has nodes. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MemoryPolicyTest {
    private static final BitSet NODE_0 = BitSet.valueOf(new long[] {1});

    @BeforeEach
    void needsNuma() {
        assumeTrue(Files.exists(Path.of("/proc/self/numa_maps")), "the kernel has no NUMA");
        try {
            MemoryPolicy.bind(0);
        } catch (final OsException refused) {
            assumeTrue(refused.errno() != Errno.EPERM, "set_mempolicy(2) is not permitted here");
            throw refused;
        }
    }

    @AfterEach
    void reset() {
        MemoryPolicy.reset();
    }

    @Test
    void shouldBindTheCallingThreadAndLetItGo() {
        assertEquals(NODE_0, MemoryPolicy.boundTo());
        MemoryPolicy.reset();
        assertEquals(new BitSet(), MemoryPolicy.boundTo());
    }

    @Test
    void shouldTakeMemoryFromTheNode() {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(1 << 20, 4096);
            assertEquals(OptionalInt.of(0), MemoryPolicy.nodeOf(memory));
        }
        assertEquals(OptionalInt.empty(), MemoryPolicy.nodeOf(MemorySegment.ofAddress(4096)));
    }

    @Test
    void shouldBeInheritedByThreadsAndProcessesThatAreStartedAfterwards() throws InterruptedException, IOException {
        final AtomicReference<BitSet> inherited = new AtomicReference<>();
        final Thread thread = new Thread(() -> inherited.set(MemoryPolicy.boundTo()));
        thread.start();
        thread.join();
        assertEquals(NODE_0, inherited.get());
        final Process child = new ProcessBuilder("cat", "/proc/self/numa_maps").start();
        final String maps = new String(child.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        assertEquals(0, child.waitFor());
        assertTrue(maps.contains(" bind:0 "), maps);
    }

    @Test
    void shouldNotBindOtherThreads() throws InterruptedException {
        final AtomicReference<BitSet> own = new AtomicReference<>();
        final Thread thread = new Thread(() -> {
            MemoryPolicy.reset();
            own.set(MemoryPolicy.boundTo());
        });
        thread.start();
        thread.join();
        assertEquals(new BitSet(), own.get());
        assertEquals(NODE_0, MemoryPolicy.boundTo());
    }

    @Test
    void shouldNameTheNodeThatDoesNotExist() {
        final OsException refused = assertThrows(OsException.class, () -> MemoryPolicy.bind(1023));
        assertEquals("set_mempolicy", refused.function());
        assertEquals(Errno.EINVAL, refused.errno());
        assertTrue(refused.getMessage().startsWith("cannot bind memory to NUMA node 1023: there is no such node"),
            refused::getMessage);
        assertThrows(IllegalArgumentException.class, () -> MemoryPolicy.bind(-1));
        assertThrows(IllegalArgumentException.class, () -> MemoryPolicy.bind(1024));
    }
}
