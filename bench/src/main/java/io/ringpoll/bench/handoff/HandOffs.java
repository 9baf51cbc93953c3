package io.ringpoll.bench.handoff;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;

/** The hand-offs by label: ringpoll, C, and the usual Java queues, each in the fastest use that its documentation recommends. */
public final class HandOffs {
    /** The word for {@link #copying()} in options. */
    public static final String COPYING = "copying";
    /** The word for {@link #allCopying()} in options. */
    public static final String ALL_COPYING = "all-copying";
    /** The label in results of the bounded queue of the JDK, used by its blocking methods. */
    public static final String ARRAY_BLOCKING_QUEUE = "array-blocking-queue";

    private static final List<HandOff> FASTEST = List.of(
        new Copying(ARRAY_BLOCKING_QUEUE, BlockingQueueHandOff::new),
        new Copying("array-blocking-queue-spin", SpinningQueueHandOff::new),
        new Copying("one-to-one-ring-buffer-batch", RingBufferBatchHandOff::new),
        new Copying("spsc-array-queue", SpscQueueHandOff::new),
        new Copying("plain-disruptor", PlainDisruptorHandOff::new),
        new OverAeron("aeron-ipc-batch", AeronBatchHandOff::new));

    private static final List<HandOff> OTHERS = List.of(
        new Copying("one-to-one-ring-buffer", (job, work) -> new RingBufferHandOff(job, work, MessageRings::oneToOne)),
        new Copying("many-to-one-ring-buffer", (job, work) -> new RingBufferHandOff(job, work, MessageRings::manyToOne)),
        new OverAeron("aeron-ipc", AeronHandOff::new));

    private HandOffs() {
    }

    /** A hand-off that copies, to any work. */
    private interface ToAnyWork extends HandOff {
        BiFunction<Job, Work, CopyingHandOff> factory();

        @Override
        default Running start(final Job job) {
            return start(job, Work.of(job));
        }

        default Running start(final Job job, final Work work) {
            return factory().apply(job, work).start();
        }
    }

    /** A hand-off that copies within the heap or off-heap memory of this process. */
    private record Copying(String label, BiFunction<Job, Work, CopyingHandOff> factory) implements ToAnyWork {
    }

    /** A hand-off by Aeron, which maps files. */
    private record OverAeron(String label, BiFunction<Job, Work, CopyingHandOff> factory) implements ToAnyWork {
        @Override
        public Optional<String> unavailable() {
            return AeronIpc.unavailable();
        }

        @Override
        public long startTimeNs() {
            return AeronIpc.START_TIME_NS;
        }
    }

    /**
     * The alternatives that copy completions: the usual and the fastest use of the queue of the JDK, the fastest one of each
     * other library. Each supports one handler.
     *
     * @return a constant list
     */
    public static List<HandOff> copying() {
        return FASTEST;
    }

    /**
     * All forms of the alternatives that copy completions; each supports one handler.
     *
     * @return those of {@link #copying()} first
     */
    public static List<HandOff> allCopying() {
        final List<HandOff> all = new ArrayList<>(FASTEST);
        all.addAll(OTHERS);
        return all;
    }

    /**
     * Finds hand-offs by an option.
     *
     * @param label a label in results, {@value #COPYING} or {@value #ALL_COPYING}
     * @return one or several
     * @throws IllegalArgumentException if there is none; the message names all
     */
    public static List<HandOff> named(final String label) {
        return switch (label) {
            case COPYING -> copying();
            case ALL_COPYING -> allCopying();
            default -> List.of(of(label));
        };
    }

    /**
     * Finds the baselines of several options: each once, since the turns of two with the same label would be taken for each
     * other's.
     *
     * @param labels as of {@link #named(String)}; that of ringpoll is left out
     * @return in the order of their first labels
     * @throws IllegalArgumentException if there is none; the message names all
     */
    public static List<HandOff> baselines(final List<String> labels) {
        final Map<String, HandOff> baselines = new LinkedHashMap<>();
        labels.forEach(label -> named(label).forEach(handOff -> baselines.putIfAbsent(handOff.label(), handOff)));
        baselines.remove(RingpollHandOff.NAME);
        return List.copyOf(baselines.values());
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
        for (final List<HandOff> group : List.of(own, allCopying())) {
            for (final HandOff handOff : group) {
                if (handOff.label().equals(label)) {
                    return handOff;
                }
            }
        }
        throw new IllegalArgumentException("no hand-off '" + label + "'; there are " + own.stream().map(HandOff::label).toList() +
            " and " + allCopying().stream().map(HandOff::label).toList());
    }

    /**
     * Leaves out the hand-offs that cannot run on this machine.
     *
     * @param handOffs any
     * @param progress receives a line for each that is left out, with the reason
     * @return the others
     */
    public static List<HandOff> available(final List<HandOff> handOffs, final PrintWriter progress) {
        final List<HandOff> available = new ArrayList<>();
        for (final HandOff handOff : handOffs) {
            handOff.unavailable().ifPresentOrElse(
                reason -> progress.println("skipped: " + handOff.label() + ": " + reason), () -> available.add(handOff));
        }
        progress.flush();
        return available;
    }

    /** Starts a hand-off that copies, with other work than that of its job. */
    static HandOff.Running start(final HandOff copying, final Job job, final Work work) {
        return ((ToAnyWork) copying).start(job, work);
    }
}
