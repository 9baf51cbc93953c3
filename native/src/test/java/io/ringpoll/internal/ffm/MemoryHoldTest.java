package io.ringpoll.internal.ffm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Memory with an address in C is not freed, with any kind of owner. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class MemoryHoldTest {
    private static final int GARBAGE_COLLECTIONS = 5;

    @Test
    void shouldKeepASharedArenaOpenUntilTheLastHoldIsReleased() {
        final Arena arena = Arena.ofShared();
        final MemorySegment memory = arena.allocate(64);
        final MemoryHold first = MemoryHold.of(memory);
        final MemoryHold second = MemoryHold.of(memory.asSlice(8, 8));
        assertEquals(1, holders(memory));
        assertThrows(IllegalStateException.class, arena::close);
        first.release();
        assertThrows(IllegalStateException.class, arena::close);
        second.release();
        arena.close();
        awaitNoHolder(memory);
        assertThrows(IllegalStateException.class, () -> MemoryHold.of(memory));
        awaitNoHolder(memory);
    }

    @Test
    void shouldKeepAMappedFileMapped(@TempDir final Path folder) throws IOException {
        final Path file = Files.write(folder.resolve("file"), new byte[4096]);
        final Arena arena = Arena.ofShared();
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            final MemoryHold hold = MemoryHold.of(channel.map(FileChannel.MapMode.READ_WRITE, 0, 4096, arena));
            assertThrows(IllegalStateException.class, arena::close);
            hold.release();
        }
        arena.close();
    }

    @Test
    void shouldHoldInAnInterruptedThread() {
        final Arena arena = Arena.ofShared();
        Thread.currentThread().interrupt();
        final MemoryHold hold = MemoryHold.of(arena.allocate(64));
        hold.release();
        assertTrue(Thread.interrupted());
        arena.close();
    }

    @Test
    void shouldRefuseAConfinedArena() {
        try (Arena arena = Arena.ofConfined()) {
            assertThrows(IllegalArgumentException.class, () -> MemoryHold.of(arena.allocate(64)));
        }
    }

    @Test
    void shouldTakeNoThreadForMemoryThatNobodyCanFree() {
        final List<MemorySegment> memories = List.of(Arena.global().allocate(64), Arena.ofAuto().allocate(64),
            MemorySegment.ofBuffer(ByteBuffer.allocateDirect(64)));
        for (final MemorySegment memory : memories) {
            final MemoryHold hold = MemoryHold.of(memory);
            assertEquals(0, holders(memory));
            hold.release();
        }
    }

    @Test
    void shouldKeepMemoryFromTheGarbageCollector() throws InterruptedException {
        final AtomicBoolean freed = new AtomicBoolean();
        MemoryHold hold = hold(freed);
        for (int i = 0; i < GARBAGE_COLLECTIONS; i++) {
            System.gc();
            Thread.sleep(20);
        }
        assertFalse(freed.get());
        hold.release();
        hold = null;
        while (!freed.get()) {
            System.gc();
            Thread.sleep(20);
        }
    }

    @SuppressWarnings("restricted")
    private static MemoryHold hold(final AtomicBoolean freed) {
        final Arena arena = Arena.ofAuto();
        return MemoryHold.of(arena.allocate(64).reinterpret(64, arena, memory -> freed.set(true)));
    }

    /** The thread ends a moment after it has released the memory. */
    private static void awaitNoHolder(final MemorySegment memory) {
        while (holders(memory) > 0) {
            Thread.yield();
        }
    }

    private static long holders(final MemorySegment memory) {
        final String name = "ringpoll-hold-0x" + Long.toHexString(memory.address());
        return Thread.getAllStackTraces().keySet().stream().filter(thread -> thread.getName().equals(name)).count();
    }
}
