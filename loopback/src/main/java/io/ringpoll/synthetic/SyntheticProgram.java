package io.ringpoll.synthetic;

import java.util.Objects;

/**
 * The program of a synthetic device: the completions of its queues.
 *
 * <p>With a schedule each completion carries in its {@code wr_id} the time at which it was due, by {@link System#nanoTime()};
 * without one, in saturation, its number.
 *
 * @param mix        the kinds of completions
 * @param schedule   when they are due
 * @param startNs    when the schedule starts, by {@link System#nanoTime()}; 0: at the first poll
 * @param count      total number of completions; {@link #ENDLESS} for no end
 * @param maxBatch   maximum completions of a poll; 0: as many as it requests
 * @param emptyPolls in saturation, number of empty polls after each poll with completions
 */
public record SyntheticProgram(CompletionMix mix, Schedule schedule, long startNs, long count, int maxBatch, int emptyPolls) {
    /** A count without end. */
    public static final long ENDLESS = -1;

    /** Checks the numbers. */
    public SyntheticProgram {
        Objects.requireNonNull(mix, "the mix is null");
        Objects.requireNonNull(schedule, "the schedule is null");
        if (count < ENDLESS || maxBatch < 0 || emptyPolls < 0) {
            throw new IllegalArgumentException(
                "count " + count + ", maxBatch " + maxBatch + " and emptyPolls " + emptyPolls + " must not be negative");
        }
    }

    /**
     * An endless program.
     *
     * @param mix      the kinds of completions
     * @param schedule when they are due
     * @return it starts at the first poll
     */
    public static SyntheticProgram of(final CompletionMix mix, final Schedule schedule) {
        return new SyntheticProgram(mix, schedule, 0, ENDLESS, 0, 0);
    }

    /**
     * The same with a time of start.
     *
     * @param ns by {@link System#nanoTime()}
     * @return another program
     */
    public SyntheticProgram startingAt(final long ns) {
        return new SyntheticProgram(mix, schedule, ns, count, maxBatch, emptyPolls);
    }

    /**
     * The same with an end.
     *
     * @param completions their total number
     * @return another program
     */
    public SyntheticProgram limitedTo(final long completions) {
        return new SyntheticProgram(mix, schedule, startNs, completions, maxBatch, emptyPolls);
    }

    /**
     * The same with shorter batches, and in saturation with pauses between them.
     *
     * @param completions maximum completions of a poll
     * @param emptyAfter  number of empty polls after each
     * @return another program
     */
    public SyntheticProgram batchedBy(final int completions, final int emptyAfter) {
        return new SyntheticProgram(mix, schedule, startNs, count, completions, emptyAfter);
    }
}
