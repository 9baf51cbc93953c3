package io.ringpoll.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Memory that stays in memory, as the kernel counts it. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class MemoryLockTest {
    private static final long LENGTH = 64 * 1024;

    @Test
    void shouldLockAndUnlockAPieceOfMemory() throws IOException {
        try (Arena arena = Arena.ofConfined()) {
            final MemorySegment memory = arena.allocate(LENGTH, 4096);
            final long before = lockedKb();
            MemoryLock.lock(memory);
            assertEquals(before + LENGTH / 1024, lockedKb());
            MemoryLock.unlock(memory);
            assertEquals(before, lockedKb());
        }
    }

    @Test
    void shouldTellWhyMemoryCannotBeLocked() {
        final MemorySegment nowhere = MemorySegment.ofAddress(4096);
        final OsException refused = assertThrows(OsException.class, () -> MemoryLock.lock(new Nowhere(nowhere).memory()));
        assertEquals("mlock", refused.function());
        assertTrue(refused.getMessage().startsWith("cannot lock 4096 bytes: E"), refused::getMessage);
    }

    /** A page where nothing is mapped. */
    private record Nowhere(MemorySegment at) {
        @SuppressWarnings("restricted")
        MemorySegment memory() {
            return at.reinterpret(4096);
        }
    }

    private static long lockedKb() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            final String line = lines.filter(each -> each.startsWith("VmLck:")).findFirst().orElseThrow();
            return Long.parseLong(line.replaceAll("\\D", ""));
        }
    }
}
