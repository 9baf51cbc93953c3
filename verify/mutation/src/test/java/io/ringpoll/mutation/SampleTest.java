package io.ringpoll.mutation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SampleTest {
    private static final int MUTANTS = 100_000;

    private static Set<String> drawn(final double percent, final int seed) {
        final Sample sample = new Sample(percent, seed);
        return IntStream.range(0, MUTANTS).mapToObj(i -> "poller.QueueRound.add: negated conditional: line " + i)
            .filter(sample::contains).collect(Collectors.toSet());
    }

    @Test
    void shouldDrawTheShareOfAllMutants() {
        assertEquals(0.2 * MUTANTS, drawn(20, 1).size(), 0.01 * MUTANTS);
        assertEquals(MUTANTS, drawn(100, 1).size());
        assertEquals(0, drawn(0, 1).size());
    }

    @Test
    void shouldDrawOthersWithAnotherSeedAndTheSameWithTheSame() {
        final Set<String> first = drawn(20, 1);
        final Set<String> both = drawn(20, 2).stream().filter(first::contains).collect(Collectors.toSet());

        assertEquals(first, drawn(20, 1));
        // Independent draws share a fifth of a fifth.
        assertEquals(0.04 * MUTANTS, both.size(), 0.01 * MUTANTS);
    }

    @Test
    void shouldDrawAllOfASmallerShare() {
        assertTrue(drawn(20, 1).containsAll(drawn(5, 1)));
    }
}
