package io.ringpoll.internal.ffm;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** Reads memory of C libraries. Addresses must be valid. */
public final class Memory {
    @SuppressWarnings("restricted")
    private static final MemorySegment ALL = MemorySegment.NULL.reinterpret(Long.MAX_VALUE);

    private Memory() {
    }

    /**
     * Reads 8 bytes.
     *
     * @param address of them, 8-byte aligned
     * @return in native byte order
     */
    public static long longAt(final long address) {
        return ALL.get(ValueLayout.JAVA_LONG, address);
    }

    /**
     * Reads 4 bytes.
     *
     * @param address of them, 4-byte aligned
     * @return in native byte order
     */
    public static int intAt(final long address) {
        return ALL.get(ValueLayout.JAVA_INT, address);
    }

    /**
     * Writes 4 bytes.
     *
     * @param address of them, 4-byte aligned
     * @param value   in native byte order
     */
    public static void intAt(final long address, final int value) {
        ALL.set(ValueLayout.JAVA_INT, address, value);
    }

    /**
     * Copies bytes out of C memory.
     *
     * @param address     of the first
     * @param lengthBytes number of bytes
     * @return a new array
     */
    public static byte[] bytesAt(final long address, final int lengthBytes) {
        return ALL.asSlice(address, lengthBytes).toArray(ValueLayout.JAVA_BYTE);
    }

    /**
     * Reads a C string.
     *
     * @param address of its first byte; 0 is allowed
     * @return the string; empty for 0
     */
    public static String stringAt(final long address) {
        return address == 0 ? "" : ALL.getString(address, StandardCharsets.UTF_8);
    }
}
