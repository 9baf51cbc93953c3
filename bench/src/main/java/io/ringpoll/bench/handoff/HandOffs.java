package io.ringpoll.bench.handoff;

import java.util.List;
import java.util.function.Function;

/** The hand-offs by label: ringpoll, C, and the usual Java queues, each used as its documentation recommends. */
public final class HandOffs {
    /** The label in results of the bounded queue of the JDK. */
    public static final String ARRAY_BLOCKING_QUEUE = "array-blocking-queue";

    private static final List<HandOff> COPYING = List.of(
        new Copying(ARRAY_BLOCKING_QUEUE, BlockingQueueHandOff::new),
        new Copying("one-to-one-ring-buffer", OneToOneHandOff::new),
        new Copying("many-to-one-ring-buffer", ManyToOneHandOff::new),
        new Copying("spsc-array-queue", SpscQueueHandOff::new),
        new Copying("plain-disruptor", PlainDisruptorHandOff::new));

    private HandOffs() {
    }

    /** A hand-off that copies. */
    private record Copying(String label, Function<Job, CopyingHandOff> factory) implements HandOff {
        @Override
        public Running start(final Job job) {
            return factory.apply(job).start();
        }
    }

    /**
     * The alternatives that copy completions; each supports one handler.
     *
     * @return a constant list
     */
    public static List<HandOff> copying() {
        return COPYING;
    }

    /**
     * Finds a hand-off by its label.
     *
     * @param label the label in results
     * @return the hand-off
     * @throws IllegalArgumentException if there is none; the message names all
     */
    public static HandOff of(final String label) {
        final List<HandOff> own = List.of(new RingpollHandOff(), CHandOff.withThreads(), CHandOff.bareLoop());
        for (final List<HandOff> group : List.of(own, COPYING)) {
            for (final HandOff handOff : group) {
                if (handOff.label().equals(label)) {
                    return handOff;
                }
            }
        }
        throw new IllegalArgumentException("no hand-off '" + label + "'; there are " + own.stream().map(HandOff::label).toList() +
            " and " + COPYING.stream().map(HandOff::label).toList());
    }
}
