package io.ringpoll.internal.os;

import java.lang.foreign.Arena;

/**
 * Memory outside the heap that is freed by its last owner: slabs of rings, and memory regions that the binding allocates.
 *
 * <p>With {@code -Dringpoll.memory.debug=true} it is allocated on its own pages, which freeing protects for good instead of
 * releasing them: the first later access, from Java or from C, is a SIGSEGV with the stack in the JVM's report. The addresses are
 * never used again. Stateless.
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
