package io.ringpoll.mutation;

import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/**
 * A share of the mutants, chosen by their keys: changes elsewhere in the code leave the choice as it is.
 *
 * @param percent of all
 * @param seed    another one chooses others
 */
record Sample(double percent, int seed) {
    private static final long SPAN = 1L << 32;
    private static final int ALL = 100;

    boolean contains(final String key) {
        final CRC32C hash = new CRC32C();
        hash.update((seed + key).getBytes(StandardCharsets.UTF_8));
        return hash.getValue() < percent / ALL * SPAN;
    }

    boolean isAll() {
        return percent >= ALL;
    }
}
