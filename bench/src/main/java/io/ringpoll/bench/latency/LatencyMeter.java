package io.ringpoll.bench.latency;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Measures contestants in turns: each has one turn per round, all of the same length and after a collection of garbage. The order
 * of a round is random, by a seed, so that neither changes of the machine nor a predecessor favour one. Used by one thread.
 */
final class LatencyMeter {
    private final List<Contestant> contestants;
    private final Random random;

    LatencyMeter(final List<Contestant> contestants, final long seed) {
        this.contestants = List.copyOf(contestants);
        random = new Random(seed);
    }

    /**
     * Runs the rounds.
     *
     * @param rounds   number of rounds
     * @param turn     the turn of each contestant in a round
     * @param progress notified of each turn
     * @return the turns of each contestant, by label
     */
    Map<String, List<LatencyWindow>> play(final int rounds, final Turn turn, final Consumer<LatencyWindow> progress)
        throws TimeoutException {
        final Map<String, List<LatencyWindow>> windows = new LinkedHashMap<>();
        contestants.forEach(contestant -> windows.put(contestant.label(), new ArrayList<>()));
        final List<Contestant> order = new ArrayList<>(contestants);
        for (int round = 0; round < rounds; round++) {
            Collections.shuffle(order, random);
            for (final Contestant contestant : order) {
                System.gc();
                final LatencyWindow window =
                    contestant.run(new Turn(round, turn.leadInNs(), turn.lengthNs(), turn.iterations()));
                progress.accept(window);
                windows.get(contestant.label()).add(window);
            }
        }
        return windows;
    }
}
