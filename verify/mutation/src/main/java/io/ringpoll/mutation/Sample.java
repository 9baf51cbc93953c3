package io.ringpoll.mutation;

import java.nio.charset.StandardCharsets;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;

/**
 * A share of the mutants, selected by their keys, so that changes elsewhere in the code do not change the selection.
 *
 * @param percent share of all mutants
 * @param seed    selects the sample
 */
record Sample(double percent, int seed) {
    private static final double SPAN = 1L << Integer.SIZE;
    private static final int ALL = 100;

    boolean contains(final String key) {
        final CRC32C sum = new CRC32C();
        sum.update(key.getBytes(StandardCharsets.UTF_8));
        // The sums of similar keys, and of one key with different seeds, are correlated; the outputs of the generator are not.
        final long drawn = new SplittableRandom(sum.getValue() << Integer.SIZE | Integer.toUnsignedLong(seed)).nextLong();
        return drawn >>> Integer.SIZE < percent / ALL * SPAN;
    }
}
