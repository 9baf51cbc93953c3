package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Measures turns of one pipeline with one handler: from the due time of a completion to the handler. Used by one thread. */
public final class LatencyProbe implements AutoCloseable {
    private static final long LEAD_IN_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final int RING_SIZE = 8192;
    private static final int BATCH = 32;

    private final SyntheticSource source = SyntheticSource.open();
    private final SyntheticContestant contestant;

    /**
     * The result of a turn.
     *
     * @param latencyNs the recorded latencies
     * @param fault     the reason why they are not complete; empty if they are
     */
    public record Result(Histogram latencyNs, String fault) {
    }

    /**
     * Opens the synthetic queue.
     *
     * @param perSecond completions per second
     * @param wait      wait mode of poller and handler
     * @param cpus      CPUs of poller and handler
     */
    public LatencyProbe(final long perSecond, final WaitMode wait, final HotCpus cpus) {
        contestant = new SyntheticContestant(new RingpollHandOff(), source, Schedule.rate(perSecond),
            new HotThreads(1, RING_SIZE, BATCH, wait, cpus, HotCpus.ANY));
    }

    /**
     * Runs a turn with new threads, after a collection of garbage.
     *
     * @param lengthNs recorded time
     * @return its latencies
     */
    public Result turn(final long lengthNs) {
        System.gc();
        final LatencyWindow window = contestant.run(new Turn(0, LEAD_IN_NS, lengthNs, 0));
        return new Result(window.latencyNs(), window.fault());
    }

    @Override
    public void close() {
        contestant.close();
        source.close();
    }
}
