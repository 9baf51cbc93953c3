package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/**
 * The settings of a measurement.
 *
 * @param over            the source of completions
 * @param mode            how they are asked for
 * @param schedule        when they are due; saturation for ping-pong
 * @param perSecond       the mean rate of the schedule
 * @param operation       that is posted over a device
 * @param runToCompletion whether a thread at each end polls and answers, rather than a poller and a handler both ends
 * @param sizes           of messages, in bytes; each is measured
 * @param warmUpRounds    turns of each contestant before the measurement
 * @param rounds          turns of each contestant
 * @param turn            a turn of the measurement
 * @param against         labels of what is measured beside ours; see {@link LatencyMeasurement#handOffs}
 * @param handlers        handlers that share the three paths
 * @param ringSize        slots
 * @param batch           completions that a poll asks for
 * @param waitStrategy    how threads wait
 * @param cpus            where they are pinned
 * @param output          folder for histograms, results and plots; null for none
 */
public record LatencyConfig(
    Over over, Mode mode, Schedule schedule, long perSecond, Traffic.Operation operation, boolean runToCompletion,
    List<Integer> sizes, int warmUpRounds, int rounds, Turn turn, List<String> against, int handlers, int ringSize, int batch,
    WaitMode waitStrategy, HotCpus cpus, Path output) {

    /** The longest message, in bytes. */
    public static final int LONGEST_MESSAGE = LinkedPair.MEMORY_BYTES;

    /** The source of completions. */
    public enum Over {
        /** A queue in memory. */
        SYNTHETIC,
        /** The loopback device. */
        LOOPBACK,
        /** An RDMA device. */
        RDMA
    }

    /** How completions are asked for. */
    public enum Mode {
        /** At fixed times, open loop. */
        RATE,
        /** One after the other, closed loop. */
        PING_PONG
    }

    @Override
    public String toString() {
        return cpus + "; waiting by " + waitStrategy.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    HotThreads threads() {
        return new HotThreads(handlers, ringSize, batch, waitStrategy, cpus, HotCpus.ANY);
    }
}
