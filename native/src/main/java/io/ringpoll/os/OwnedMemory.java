package io.ringpoll.os;

import java.lang.foreign.Arena;

/**
 * Memory outside the heap that is freed by its last owner: slabs of rings, and memory regions that the binding allocates.
 *
 * <p>With {@code -Dringpoll.memory.debug=true} it lies on pages of its own, which freeing protects for good instead of giving
 * them back: whoever touches it later, from Java or from C, is stopped by a SIGSEGV at the first touch, with the stack in the
 * JVM's report. The addresses are never used again. Stateless.
 */
public final class OwnedMemory {
    /** Name of the system property that turns the debug mode on. */
    public static final String DEBUG_PROPERTY = "ringpoll.memory.debug";

    private static final boolean DEBUG = Boolean.getBoolean(DEBUG_PROPERTY);

    private OwnedMemory() {
    }

    /**
     * Opens an arena that any thread may use and close.
     *
     * @return {@link Arena#ofShared()}, or in debug mode an arena that protects what it frees
     */
    public static Arena newArena() {
        return DEBUG ? new GuardedArena() : Arena.ofShared();
    }

    /**
     * The memory that arenas of the debug mode have allocated and not freed.
     *
     * @return bytes, in whole pages; 0 without the debug mode
     */
    public static long guardedBytes() {
        return GuardedArena.liveBytes();
    }
}
