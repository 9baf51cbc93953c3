package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.BaselineOptions;
import io.ringpoll.bench.baseline.BaselineResult;
import io.ringpoll.bench.baseline.CBaseline;
import io.ringpoll.bench.baseline.CLink;
import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.CHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/** The C baseline at ping-pong or at paced operations, over its own connection. */
final class CLinkContestant implements Contestant {
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);

    private final CLink link;
    private final boolean bare;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final Schedule schedule;
    private final HotThreads threads;
    private final long stallNs;

    private CLinkContestant(final CLink link, final boolean bare, final Traffic.Operation operation, final int sizeBytes,
        final Schedule schedule, final HotThreads threads, final long stallNs) {
        this.stallNs = stallNs;
        this.link = link;
        this.bare = bare;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.schedule = schedule;
        this.threads = threads;
    }

    /** Ping-pong; bare: one thread polls and answers, as ib_send_lat does. */
    static CLinkContestant pingPong(final CLink link, final boolean bare, final Traffic.Operation operation, final int sizeBytes,
        final HotThreads threads) {
        return pingPong(link, bare, operation, sizeBytes, threads, StallWatch.LIMIT_NS);
    }

    /** Ping-pong with its own limit for the time without a completion. */
    static CLinkContestant pingPong(final CLink link, final boolean bare, final Traffic.Operation operation, final int sizeBytes,
        final HotThreads threads, final long stallNs) {
        return new CLinkContestant(link, bare, operation, sizeBytes, Schedule.saturation(), threads, stallNs);
    }

    /** Paced operations. */
    static CLinkContestant paced(final CLink link, final Traffic.Operation operation, final int sizeBytes,
        final Schedule schedule, final HotThreads threads) {
        return new CLinkContestant(link, false, operation, sizeBytes, schedule, threads, StallWatch.LIMIT_NS);
    }

    @Override
    public String label() {
        return bare ? CHandOff.BARE_NAME : CHandOff.NAME;
    }

    @Override
    public LatencyWindow run(final Turn turn) throws TimeoutException {
        final boolean isPingPong = schedule.isSaturation();
        final long startNs = System.nanoTime() + START_NS;
        final long fromNs = startNs + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final BaselineOptions.Handler handler =
            new BaselineOptions.Handler(EnumSet.allOf(CompletionPath.class), threads.cpus().handler(0));
        final BaselineOptions options = new BaselineOptions(bare ? List.of() : List.of(handler), threads.ringSize(),
            threads.batch(), threads.waitStrategy() != WaitMode.BUSY_SPIN, threads.cpus().poller(), fromNs, untilNs, 0);
        final Traffic traffic = new Traffic(operation, sizeBytes, schedule, startNs, turn.iterations(), threads.poster());
        final CBaseline baseline = isPingPong ? link.startPingPong(options, traffic) : link.startPaced(options, traffic);
        // The same settings as for ringpoll.
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        Timing.sleepUntil(fromNs);
        final long before = baseline.passed();
        final StallWatch stall = new StallWatch(label(), stallNs);
        while (System.nanoTime() - untilNs < 0 && !(isPingPong && link.isDone())) {
            if (isPingPong && stall.isStalled(baseline.passed())) {
                throw stall.failure(baseline.stop().toString());
            }
            LockSupport.parkNanos(Math.max(1, Math.min(RingpollPingPong.CHECK_NS, untilNs - System.nanoTime())));
        }
        final long passed = baseline.passed() - before;
        // A send has two completions: its own and that of the receive.
        final long onTime = operation == Traffic.Operation.SEND ? passed / 2 : passed;
        final CpuLoss loss = watch.stop();
        link.rest();
        final BaselineResult result = baseline.stop();
        final String fault = result.queueFault() != 0 ? "rpma_cq_get_wc returned " + result.queueFault() :
            !isPingPong && link.isDone() ? "an operation failed" : "";
        return new LatencyWindow(turn.round(), label(), result.latencyNs(),
            isPingPong ? 0 : schedule.dueWithin(turn.lengthNs()), isPingPong ? 0 : onTime, loss, 0, fault);
    }

    @Override
    public void close() {
        link.close();
    }
}
