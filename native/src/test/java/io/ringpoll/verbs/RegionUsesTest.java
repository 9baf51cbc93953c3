package io.ringpoll.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RegionUsesTest {
    private final Steps counts = new Steps();
    private final Set<String> open = new LinkedHashSet<>();
    private final RegionUses<String> uses = new RegionUses<>(counts, this::keep, open::remove);

    /** Counts its accesses. */
    private static final class Steps extends IdentityHashMap<String, Integer> {
        private static final long serialVersionUID = 1L;
        private int taken;

        @Override
        public Integer get(final Object key) {
            taken++;
            return super.get(key);
        }

        @Override
        public Integer put(final String key, final Integer value) {
            taken++;
            return super.put(key, value);
        }

        @Override
        public Integer merge(
            final String key, final Integer value, final BiFunction<? super Integer, ? super Integer, ? extends Integer> change) {
            taken++;
            return super.merge(key, value, change);
        }
    }

    private void keep(final String region) {
        if ("closed".equals(region)) {
            throw new IllegalStateException("closed");
        }
        assertTrue(open.add(region), region);
    }

    private static String[] regions(final String... names) {
        return names;
    }

    @Test
    void shouldKeepARegionFromItsFirstUseToItsLast() {
        uses.replace(regions(), regions("a", "a", "b"));
        assertEquals(Set.of("a", "b"), open);
        uses.replace(regions("a", "a", "b"), regions("a"));
        assertEquals(Set.of("a"), open);
        uses.replace(regions(), regions("a"));
        uses.replace(regions("a"), regions());
        assertEquals(Set.of("a"), open);
        uses.replace(regions("a"), regions("c"));
        assertEquals(Set.of("c"), open);
    }

    @Test
    void shouldChangeNothingIfARegionCannotBeUsed() {
        uses.replace(regions(), regions("a"));
        assertThrows(IllegalStateException.class, () -> uses.replace(regions("a"), regions("a", "b", "closed", "c")));
        assertThrows(NullPointerException.class, () -> uses.replace(regions("a"), regions("b", null)));
        assertEquals(Set.of("a"), open);
        uses.replace(regions("a"), regions());
        assertEquals(Set.of(), open);
    }

    /** Each request has a region of its own, and then another one. */
    @Test
    void shouldTakeAsManyStepsForTheLastRequestOfALongListAsForTheFirst() {
        final int requests = 10_000;
        for (int index = 0; index < requests; index++) {
            uses.replace(regions(), regions(("former" + index).intern()));
        }
        counts.taken = 0;
        for (int index = 0; index < requests; index++) {
            final int before = counts.taken;
            uses.replace(regions(("former" + index).intern()), regions(("next" + index).intern()));
            assertTrue(counts.taken - before <= 4, () -> counts.taken - before + " steps");
        }
        assertEquals(requests, open.size());
    }
}
