package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory by node, as in {@code numa_maps}. */
@Timeout(60)
class NodeCensusTest {
    private static final long BLOCK_BYTES = 64L << 20;

    @Test
    void shouldAddUpPagesOfEachSizeByNodeButNotThoseOfFiles() {
        final NodeMemory memory = NodeMemory.parse(Stream.of(
            "7f0000000000 bind:0 anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4",
            "7f0000200000 bind:0 anon=5 dirty=5 N1=5 kernelpagesize_kB=2048",
            "55785a7d2000 default file=/usr/bin/cat mapped=2 N0=2 kernelpagesize_kB=4",
            "7f0000400000 default heap anon=1 dirty=1 N12=1 kernelpagesize_kB=4",
            "7f0000600000 default"));
        assertEquals(Map.of(0, 8192L, 1, 4096L + 5 * (2L << 20), 12, 4096L), memory.bytesByNode());
        assertEquals(8192.0 / memory.totalBytes(), memory.shareOn(0));
        assertEquals(0, memory.shareOn(7));
    }

    @Test
    void shouldKeepTheLookAtWhichThereWasMost() {
        assumeTrue(Files.exists(Path.of("/proc/self/numa_maps")), "the kernel has no NUMA");
        final long before = NodeMemory.ofThisProcess().totalBytes();
        final NodeCensus census = new NodeCensus(0);
        census.during(() -> {
            try (Arena arena = Arena.ofConfined()) {
                arena.allocate(BLOCK_BYTES).fill((byte) 1);
                // Many intervals of the sampling thread, which may not have its CPU in most of them.
                Thread.sleep(3_000);
            } catch (final InterruptedException interrupted) {
                throw new AssertionError(interrupted);
            }
        });
        assertTrue(census.memory().totalBytes() > before + BLOCK_BYTES / 2, census + ", before " + before);
        assertTrue(census.toString().startsWith("memory is bound to NUMA node 0: of "), census.toString());
    }
}
