package io.ringpoll.bench.latency;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Has contestants take turns: in each round every one has a turn of the same length, and the order changes from round to round,
 * so that what changes in the machine meets all of them. Used by one thread.
 */
final class LatencyMeter {
    private final List<Contestant> contestants;

    LatencyMeter(final List<Contestant> contestants) {
        this.contestants = List.copyOf(contestants);
    }

    /**
     * Plays rounds.
     *
     * @param rounds   how many
     * @param turn     of each contestant in each round
     * @param progress hears of each turn
     * @return the turns of each contestant, by label
     */
    Map<String, List<LatencyWindow>> play(final int rounds, final Turn turn, final Consumer<LatencyWindow> progress)
        throws TimeoutException {
        final Map<String, List<LatencyWindow>> windows = new LinkedHashMap<>();
        contestants.forEach(contestant -> windows.put(contestant.label(), new ArrayList<>()));
        final List<Contestant> order = new ArrayList<>(contestants);
        for (int round = 0; round < rounds; round++) {
            for (final Contestant contestant : order) {
                final LatencyWindow window =
                    contestant.run(new Turn(round, turn.leadInNs(), turn.lengthNs(), turn.iterations()));
                progress.accept(window);
                windows.get(contestant.label()).add(window);
            }
            Collections.rotate(order, 1);
        }
        return windows;
    }
}
