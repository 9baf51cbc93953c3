package io.ringpoll.bench.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RoundsTest {
    private static final List<String> ALL = List.of("ours", "c", "netty", "tcp");
    private static final int ROUNDS = 6;

    private final Random random = new Random(1);
    private final List<String> taken = new ArrayList<>();

    private Rounds<String> rounds(final int attempts) {
        return new Rounds<>(ALL, attempts, random);
    }

    @Test
    void shouldGiveEachContestantAValidTurnOfEachRoundOnAMachineThatDropsTwoOfFive() {
        final Random losses = new Random(2);
        final Map<String, Integer> valid = new HashMap<>();
        final List<Integer> order = new ArrayList<>();
        rounds(3).run(ROUNDS, (round, contestant) -> {
            order.add(round);
            final boolean counts = losses.nextInt(5) >= 2;
            if (counts) {
                valid.merge(round + " " + contestant, 1, Integer::sum);
            }
            return counts;
        });
        assertEquals(ROUNDS * ALL.size(), valid.size(), valid.toString());
        assertEquals(Set.of(1), Set.copyOf(valid.values()), "a valid turn is not repeated");
        assertTrue(order.size() > ROUNDS * ALL.size() && order.size() <= 3 * ROUNDS * ALL.size(), order.toString());
        assertEquals(order.stream().sorted().toList(), order, "a turn is repeated in its round");
    }

    @Test
    void shouldTakeAtMostTheTurnsOfItsLimit() {
        rounds(3).run(ROUNDS, (round, contestant) -> !taken.add(contestant));
        assertEquals(3 * ROUNDS * ALL.size(), taken.size());
        taken.clear();
        rounds(1).run(ROUNDS, (round, contestant) -> !taken.add(contestant));
        assertEquals(ROUNDS * ALL.size(), taken.size());
    }

    @Test
    void shouldLeaveRepetitionsOfLaterRoundsToOthersThanAContestantThatIsAlwaysDropped() {
        final Set<String> valid = new HashSet<>();
        rounds(3).run(ROUNDS, (round, contestant) -> {
            final String turn = round + " " + contestant;
            final boolean first = !taken.contains(turn);
            taken.add(turn);
            // The last round is disturbed, and one contestant never has a figure.
            final boolean counts = !contestant.equals("tcp") && !(round == ROUNDS - 1 && first);
            if (counts) {
                valid.add(turn);
            }
            return counts;
        });
        assertEquals(ROUNDS * (ALL.size() - 1), valid.size(), valid.toString());
    }

    @Test
    void shouldTakeTheTurnsOfEachRoundInAnotherOrder() {
        final List<List<String>> orders = new ArrayList<>();
        rounds(3).run(ROUNDS, (round, contestant) -> {
            if (orders.size() == round) {
                orders.add(new ArrayList<>());
            }
            return orders.get(round).add(contestant);
        });
        for (final List<String> order : orders) {
            assertEquals(Set.copyOf(ALL), Set.copyOf(order));
            assertEquals(ALL.size(), order.size());
        }
        assertTrue(Set.copyOf(orders).size() > 1, orders.toString());
    }

    @Test
    void shouldReportDroppedAndMissingTurns() {
        assertEquals("24 turns, none dropped because a thread lost its CPU", new TurnCount(24, 24, 0).toString());
        assertEquals("30 turns, 6 dropped because a thread lost its CPU", new TurnCount(24, 30, 6).toString());
        assertEquals("72 turns, 50 dropped because a thread lost its CPU, 2 of the 24 planned ones missing",
            new TurnCount(24, 72, 50).toString());
        final ObjectNode document = JsonNodeFactory.instance.objectNode();
        assertEquals(Optional.empty(), TurnCount.of(document));
        new TurnCount(24, 72, 50).addTo(document.putObject("turns"));
        assertEquals(Optional.of(new TurnCount(24, 72, 50)), TurnCount.of(document));
    }
}
