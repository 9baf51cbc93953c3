package io.ringpoll.bench.latency;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/**
 * Measures contestants in turns: each has one turn per round, all of the same length, and the order changes from round to round,
 * so that changes of the machine affect all of them. Used by one thread.
 */
final class LatencyMeter {
    private final List<Contestant> contestants;

    LatencyMeter(final List<Contestant> contestants) {
        this.contestants = List.copyOf(contestants);
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
