package io.ringpoll.internal.os;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.os.OsException;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class OwnedMemoryTest {
    @Test
    void shouldBePlainSharedMemoryWithoutTheDebugMode() {
        try (Arena arena = OwnedMemory.newArena()) {
            arena.allocate(100, 8);
            assertFalse(arena instanceof GuardedArena);
            assertEquals(0, OwnedMemory.guardedBytes());
        }
    }

    @Test
    void shouldBeWritableToItsLastByteAndCountedUntilItIsFreed() {
        final long before = OwnedMemory.guardedBytes();
        try (Arena arena = new GuardedArena()) {
            final MemorySegment memory = arena.allocate(3 * 4096, 4096);
            memory.fill((byte) 7);
            assertEquals(7, memory.get(ValueLayout.JAVA_BYTE, memory.byteSize() - 1));
            assertEquals(0, memory.address() % 4096);
            assertEquals(before + 3 * 4096, OwnedMemory.guardedBytes());
        }
        assertEquals(before, OwnedMemory.guardedBytes());
    }

    @Test
    void shouldTakeWholePagesForAnySize() {
        final long before = OwnedMemory.guardedBytes();
        try (Arena arena = new GuardedArena()) {
            assertEquals(0, arena.allocate(0, 1).byteSize());
            assertEquals(before + 4096, OwnedMemory.guardedBytes());
            assertEquals(1, arena.allocate(1, 1).byteSize());
            assertEquals(before + 2 * 4096, OwnedMemory.guardedBytes());
            assertEquals(4097, arena.allocate(4097, 1).byteSize());
            assertEquals(before + 4 * 4096, OwnedMemory.guardedBytes());
            assertThrows(IllegalArgumentException.class, () -> arena.allocate(-1, 1));
            assertThrows(IllegalArgumentException.class, () -> arena.allocate(1, 8192));
            assertEquals(arena.scope(), arena.allocate(1, 4096).scope());
        }
        assertEquals(before, OwnedMemory.guardedBytes());
    }

    @Test
    void shouldNameTheCallThatGetsNoMemory() {
        try (Arena arena = new GuardedArena()) {
            final OsException refused = assertThrows(OsException.class, () -> arena.allocate(1L << 60, 8));
            assertTrue(refused.getMessage().startsWith("mmap of 1152921504606851072 bytes failed: ENOMEM"),
                refused::getMessage);
        }
    }

    @Test
    void shouldNeverReuseAnAddress() {
        final Arena first = new GuardedArena();
        final long address = first.allocate(4096, 8).address();
        first.close();
        try (Arena second = new GuardedArena()) {
            for (int i = 0; i < 100; i++) {
                assertFalse(second.allocate(4096, 8).address() == address);
            }
        }
    }

    @Test
    void shouldStopTheFirstTouchOfFreedMemory() {
        final String output = JavaProcess.create().property(OwnedMemory.DEBUG_PROPERTY, "true")
            .option("-XX:-CreateCoredumpOnCrash").option("-XX:+ErrorFileToStdout").run(LateTouch.class);
        assertTrue(output.contains("SIGSEGV"), output);
        assertFalse(output.contains("touched"), output);
    }

    @Test
    void shouldDetectAnOverrunOfTheLastPage() {
        final String output = JavaProcess.create().property(OwnedMemory.DEBUG_PROPERTY, "true")
            .option("-XX:-CreateCoredumpOnCrash").option("-XX:+ErrorFileToStdout").run(LateTouch.class, "over");
        assertTrue(output.contains("SIGSEGV"), output);
        assertFalse(output.contains("touched"), output);
    }

    /** Touches memory as a poller does, by its address. */
    static final class LateTouch {
        private static final PrintStream OUT = System.out;

        private LateTouch() {
        }

        public static void main(final String[] arguments) {
            final boolean over = arguments.length > 0;
            final Arena arena = OwnedMemory.newArena();
            final UnsafeBuffer buffer = new UnsafeBuffer(arena.allocate(4096, 8).address(), over ? 8192 : 4096);
            if (!over) {
                arena.close();
            }
            buffer.putLong(over ? 4096 : 0, 1);
            OUT.println("touched");
        }
    }
}
