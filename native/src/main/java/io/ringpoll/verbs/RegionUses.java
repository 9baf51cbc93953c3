package io.ringpoll.verbs;

import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * Counts the elements of a list that use each memory region, so that the list keeps a region open from its first use to its last.
 * The cost of a change does not depend on the length of the list. Used by one thread at a time.
 *
 * @param <R> the regions
 */
final class RegionUses<R> {
    private final Map<R, Integer> counts;
    private final Consumer<R> onFirst;
    private final Consumer<R> onLast;

    /**
     * Creates a count of no uses.
     *
     * @param counts  empty, by identity
     * @param onFirst keeps a region open; throws if it cannot be used
     * @param onLast  ends that
     */
    RegionUses(final Map<R, Integer> counts, final Consumer<R> onFirst, final Consumer<R> onLast) {
        this.counts = counts;
        this.onFirst = onFirst;
        this.onLast = onLast;
    }

    /** Replaces uses of regions by others, or changes nothing and throws if one of these cannot be used. */
    void replace(final R[] former, final R[] next) {
        int added = 0;
        try {
            for (final R region : next) {
                add(Objects.requireNonNull(region, "one of the regions (memory) is null"));
                added++;
            }
        } finally {
            if (added < next.length) {
                remove(next, added);
            }
        }
        remove(former, former.length);
    }

    private void add(final R region) {
        final Integer count = counts.get(region);
        if (count == null) {
            onFirst.accept(region);
        }
        counts.put(region, count == null ? 1 : count + 1);
    }

    private void remove(final R[] regions, final int count) {
        for (int i = 0; i < count; i++) {
            if (counts.merge(regions[i], -1, (used, change) -> used == 1 ? null : used + change) == null) {
                onLast.accept(regions[i]);
            }
        }
    }
}
