package io.ringpoll.poller;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import org.agrona.UnsafeApi;

/** Asserts on the field layout that the JVM has chosen: hot fields share no cache line with fields that other threads write. */
public final class FieldLayout {
    private static final int CACHE_LINE_BYTES = 64;

    private FieldLayout() {
    }

    /**
     * Asserts that at least a cache line of padding precedes and follows the fields of a class, and that no other mutable field
     * is nearer.
     *
     * @param type class of the instances
     * @param hot  superclass that declares the hot fields
     */
    public static void assertPadded(final Class<?> type, final Class<?> hot) {
        long first = Long.MAX_VALUE;
        long last = 0;
        for (final Field field : hot.getDeclaredFields()) {
            first = Math.min(first, UnsafeApi.objectFieldOffset(field));
            last = Math.max(last, UnsafeApi.objectFieldOffset(field));
        }
        long end = 0;
        for (Class<?> declaring = type; declaring != Object.class; declaring = declaring.getSuperclass()) {
            for (final Field field : declaring.getDeclaredFields()) {
                if (!Modifier.isStatic(field.getModifiers())) {
                    final long offset = UnsafeApi.objectFieldOffset(field);
                    end = Math.max(end, offset);
                    final boolean isPadding = field.getName().matches("p\\d\\d");
                    if (declaring != hot && !isPadding && !Modifier.isFinal(field.getModifiers())) {
                        assertTrue(
                            offset + Long.BYTES <= first - CACHE_LINE_BYTES + Long.BYTES || offset >= last + CACHE_LINE_BYTES,
                            field + " at " + offset + " is too near to the hot fields, " + first + " to " + last);
                    }
                }
            }
        }
        assertTrue(first >= CACHE_LINE_BYTES, "too little padding before the hot fields: the first hot field is at " + first);
        assertTrue(end - last >= CACHE_LINE_BYTES, "too little padding after the hot fields: " + (end - last) + " bytes");
    }
}
