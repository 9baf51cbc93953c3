package io.ringpoll.bench.echo;

import io.ringpoll.bench.measure.Interval;
import java.io.IOException;
import java.util.EnumSet;
import java.util.Set;

/** The contestants, the layer first. */
enum EchoSubject {
    /** The module {@code connections} over librpma. */
    LAYER("ringpoll"),
    /** The same over verbs, without librpma. */
    OVER_VERBS("ringpoll,verbs"),
    /** The same by hand on the pipeline. */
    BY_HAND("by-hand"),
    /** Plain C on librpma. */
    C("c"),
    /** Netty over TCP. */
    NETTY("netty"),
    /** Aeron IPC. */
    AERON_IPC("aeron-ipc");

    private final String label;

    EchoSubject(final String label) {
        this.label = label;
    }

    /** Its label in results. */
    String label() {
        return label;
    }

    /**
     * The contestants of a fork.
     *
     * @param fork its index
     * @return those with goals, and in as many forks as an interval needs all
     */
    static Set<EchoSubject> ofFork(final int fork) {
        return fork < Interval.FEWEST_RUNS ? EnumSet.allOf(EchoSubject.class) : EnumSet.of(LAYER, OVER_VERBS, BY_HAND, C);
    }

    /** Opens its connections; its threads sleep at the gate. */
    EchoContestant open(final EchoScale scale, final EchoThreads threads) throws IOException {
        return switch (this) {
            case LAYER -> new LayerEcho(scale, threads, false);
            case OVER_VERBS -> new LayerEcho(scale, threads, true);
            case BY_HAND -> new HandEcho(scale, threads);
            case C -> new CEchoContestant(scale, threads);
            case NETTY -> new NettyEcho(scale, threads);
            case AERON_IPC -> new AeronEcho(scale, threads);
        };
    }
}
