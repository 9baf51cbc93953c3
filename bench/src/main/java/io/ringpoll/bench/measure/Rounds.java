package io.ringpoll.bench.measure;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * Takes a turn of each contestant in each round, in random order, and repeats the dropped ones at the end of their round: figures
 * of the same round are compared.
 *
 * <p>Until the end of a round, at most {@code attempts} times the turns planned so far are taken. A contestant whose turns are
 * always dropped thus leaves the repetitions of later rounds to the others.
 *
 * <p>Used by one thread.
 *
 * @param <T> a contestant
 */
public final class Rounds<T> {
    private final List<T> contestants;
    private final int attempts;
    private final Random random;

    /**
     * Takes one turn.
     *
     * @param <T> a contestant
     * @param <E> thrown if the measurement cannot go on
     */
    @FunctionalInterface
    public interface Turn<T, E extends Exception> {
        /**
         * Measures a contestant.
         *
         * @param round      the round
         * @param contestant the contestant
         * @return false if the turn is dropped: it is to be repeated
         * @throws E if the measurement cannot go on
         */
        boolean take(int round, T contestant) throws E;
    }

    /**
     * Creates rounds.
     *
     * @param contestants take turns
     * @param attempts    most turns for each planned one, on average; 1 repeats none
     * @param random      for the order of each round
     */
    public Rounds(final List<T> contestants, final int attempts, final Random random) {
        this.contestants = List.copyOf(contestants);
        this.attempts = attempts;
        this.random = random;
    }

    /**
     * Takes the turns of some rounds.
     *
     * @param <E>    thrown by a turn
     * @param rounds number of rounds, counted from 0
     * @param turn   takes one turn
     * @throws E if a turn does
     */
    public <E extends Exception> void run(final int rounds, final Turn<? super T, E> turn) throws E {
        int repetitions = 0;
        for (int round = 0; round < rounds; round++) {
            repetitions += (attempts - 1) * contestants.size();
            List<T> dropped = taken(round, contestants, turn);
            while (!dropped.isEmpty() && repetitions > 0) {
                final List<T> repeated = dropped.subList(0, Math.min(repetitions, dropped.size()));
                repetitions -= repeated.size();
                dropped = taken(round, repeated, turn);
            }
        }
    }

    /** Takes a turn of each in random order, and returns those with a dropped turn. */
    private <E extends Exception> List<T> taken(final int round, final List<T> all, final Turn<? super T, E> turn) throws E {
        final List<T> order = new ArrayList<>(all);
        Collections.shuffle(order, random);
        final List<T> dropped = new ArrayList<>();
        for (final T contestant : order) {
            if (!turn.take(round, contestant)) {
                dropped.add(contestant);
            }
        }
        return dropped;
    }
}
