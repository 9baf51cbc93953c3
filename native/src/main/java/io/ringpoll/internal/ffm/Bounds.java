package io.ringpoll.internal.ffm;

import java.util.Objects;

/** Checks of ranges on the hot path, small enough to be compiled into each caller, which those of {@link Objects} are not. */
public final class Bounds {
    private Bounds() {
    }

    /**
     * Checks that a range is within a whole.
     *
     * @param first  its first element
     * @param length number of its elements
     * @param size   number of elements of the whole, at least 0
     * @throws IndexOutOfBoundsException if it is not
     */
    public static void checkRange(final long first, final long length, final long size) {
        if ((first | length) < 0 || length > size - first) {
            Objects.checkFromIndexSize(first, length, size);
        }
    }
}
