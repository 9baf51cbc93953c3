package io.ringpoll.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The size of the memory in {@code /proc/meminfo}. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MachineMemoryTest {
    @Test
    void shouldReadTheTotal() {
        assertEquals(2048 * 1024, MachineMemory.totalBytes(List.of("Other: 7 kB", "MemTotal:    2048 kB", "MemFree: 1 kB")));
        final long bytes = MachineMemory.totalBytes();
        assertTrue(bytes > 1 << 20 && bytes < Long.MAX_VALUE, bytes + " bytes");
    }

    @Test
    void shouldLimitNothingWhereTheTotalIsMissing() {
        assertEquals(Long.MAX_VALUE, MachineMemory.totalBytes(List.of("MemFree: 1 kB")));
        assertEquals(Long.MAX_VALUE, MachineMemory.totalBytes(List.of("MemTotal: kB")));
        assertEquals(Long.MAX_VALUE, MachineMemory.totalBytes(List.of("MemTotal: -5 kB")));
    }

    @Test
    void shouldNameTheLimitThatApplies() {
        assertEquals("MACHINE 100", describe(MachineMemory.limit(100, 100)));
        assertEquals("MACHINE 100", describe(MachineMemory.limit(100, 101)));
        assertEquals("GROUP 99", describe(MachineMemory.limit(100, 99)));
        assertEquals("MACHINE 100", describe(MachineMemory.limit(100, 0)));
        assertEquals("MACHINE 100", describe(MachineMemory.limit(100, -1)));
        final MachineMemory.Limit ours = MachineMemory.limit();
        assertTrue(ours.bytes() > 1 << 20 && ours.bytes() <= MachineMemory.totalBytes(), ours::toString);
    }

    private static String describe(final MachineMemory.Limit limit) {
        return (limit.name().equals(MachineMemory.Limit.OF_GROUP) ? "GROUP " : "MACHINE ") + limit.bytes();
    }
}
