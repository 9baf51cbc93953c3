package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The settings of a measurement.
 *
 * @param over            source of completions
 * @param mode            open or closed loop
 * @param schedule        due times; saturation for ping-pong
 * @param perSecond       mean rate of the schedule
 * @param operation       posted operation over a device
 * @param runToCompletion whether a thread at each end polls and answers, instead of a poller and a handler for both ends
 * @param sizes           message sizes in bytes; each is measured
 * @param warmUpRounds    warm-up turns of each contestant
 * @param rounds          measured turns of each contestant
 * @param turn            a measured turn
 * @param against         labels of the baselines; see {@link LatencyMeasurement#handOffs}
 * @param handlers        handlers that share the three paths
 * @param ringSize        slots of the ring
 * @param batch           maximum completions per poll
 * @param waitStrategy    wait strategy of the threads
 * @param cpus            CPUs of the threads
 * @param seed            seed of the order of the turns in each round
 * @param output          folder for histograms, results and plots; null for none
 */
public record LatencyConfig(
    Over over, Mode mode, Schedule schedule, long perSecond, Traffic.Operation operation, boolean runToCompletion,
    List<Integer> sizes, int warmUpRounds, int rounds, Turn turn, List<String> against, int handlers, int ringSize, int batch,
    WaitMode waitStrategy, HotCpus cpus, long seed, Path output) {

    /** The longest message, in bytes. */
    public static final int LONGEST_MESSAGE = LinkEnd.MEMORY_BYTES;

    /** The source of completions. */
    public enum Over {
        /** A queue in memory. */
        SYNTHETIC,
        /** The loopback device. */
        LOOPBACK,
        /** An RDMA device. */
        RDMA
    }

    /** The loop of a measurement. */
    public enum Mode {
        /** Open loop, at fixed times. */
        RATE,
        /** Closed loop, one operation after the other. */
        PING_PONG
    }

    @Override
    public String toString() {
        return cpus + "; waiting by " + waitStrategy.name().toLowerCase(Locale.ROOT).replace('_', '-') + "; order " + seed;
    }

    /**
     * The hot threads of each contestant.
     *
     * @return with one poster on any CPU
     */
    public HotThreads threads() {
        return new HotThreads(handlers, ringSize, batch, waitStrategy, cpus, HotCpus.ANY);
    }
}
