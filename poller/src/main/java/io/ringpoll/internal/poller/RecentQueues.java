package io.ringpoll.internal.poller;

import java.util.Arrays;

/**
 * The queues of a round that have had completions recently. A large round polls them in turns, between its other queues.
 *
 * <p>A queue joins with its first completions. It leaves when it was empty in {@value #ROUNDS} rounds, one after another, or with
 * the round. Joining and leaving take constant time: after the end of a load, all queues of a round leave in the same duty cycle.
 * Belongs to the polling thread.
 */
final class RecentQueues {
    /** First polls of a round between two groups of second polls. */
    static final int INTERVAL = 64;
    /** Maximum number of second polls in a group, each of another queue. */
    static final int POLLS = 8;
    /** Empty rounds after which a queue leaves: longer than the gaps between the completions of a busy queue. */
    static final int ROUNDS = 256;

    /** Index of a queue that is not in this list. */
    private static final int NONE = -1;

    /** Places of the queues in the round. */
    private int[] places = new int[0];
    private int size;
    private int next;
    /** By place, so that a round of empty queues reads no object of theirs: index in this list, or none. */
    private int[] indexes = new int[0];
    /** By place: number of rounds, one after another, in which a queue of this list was empty. */
    private int[] emptyRounds = new int[0];
    /** First polls before the next group; continues over the ends of the rounds. */
    private int firstPollsLeft = INTERVAL;

    /** Makes room for all queues of a round, so that the duty cycle does not allocate. */
    void ensureCapacity(final int capacity) {
        final int before = indexes.length;
        if (capacity > before) {
            places = Arrays.copyOf(places, capacity);
            indexes = Arrays.copyOf(indexes, capacity);
            emptyRounds = Arrays.copyOf(emptyRounds, capacity);
            Arrays.fill(indexes, before, capacity, NONE);
        }
    }

    /** Number of first polls before the next group, at least 1. */
    int firstPollsLeft() {
        return firstPollsLeft;
    }

    /** Counts a first poll; true if a group of second polls follows. */
    boolean endsInterval() {
        if (--firstPollsLeft > 0) {
            return false;
        }
        firstPollsLeft = INTERVAL;
        return true;
    }

    /** Number of second polls in a group that begins now. */
    int group() {
        return Math.min(POLLS, size);
    }

    /** The place of the next queue in turn; only within a group. */
    int next() {
        final int place = places[next];
        next = next + 1 == size ? 0 : next + 1;
        return place;
    }

    /** Notes a poll with completions, after their publication. */
    void onCompletions(final int place) {
        emptyRounds[place] = 0;
        if (indexes[place] == NONE) {
            indexes[place] = size;
            places[size++] = place;
        }
    }

    /** Notes that the first poll of a round was empty. */
    void onEmpty(final int place) {
        if (indexes[place] != NONE && ++emptyRounds[place] == ROUNDS) {
            remove(place);
        }
    }

    /** Counts several first polls, fewer than {@link #firstPollsLeft()}, which were empty. */
    void onEmpty(final int[] empty, final int first, final int number) {
        firstPollsLeft -= number;
        for (int i = first; i < first + number; i++) {
            onEmpty(empty[i]);
        }
    }

    /** Removes a queue, if it is in this list. */
    void remove(final int place) {
        final int index = indexes[place];
        if (index != NONE) {
            final int last = places[--size];
            places[index] = last;
            indexes[last] = index;
            indexes[place] = NONE;
            if (next >= size) {
                next = 0;
            }
        }
    }
}
