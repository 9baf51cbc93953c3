package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.Link;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.pipeline.PipelineReport;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Ringpoll at ping-pong. With a hand-off, one pipeline polls the queues of both ends, and its handler thread answers; with
 * run-to-completion handlers each end has a pipeline with one thread that polls and answers.
 */
final class RingpollPingPong implements Contestant {
    private static final String RUN_TO_COMPLETION_NAME = "ringpoll-run-to-completion";
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);
    /** Interval of the checks for the end of the turn. */
    static final long LOOK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(30);

    private final Link link;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final HotThreads threads;
    private final boolean runToCompletion;
    private final long stallNs;

    RingpollPingPong(
        final Link link, final Traffic.Operation operation, final int sizeBytes, final HotThreads threads,
        final boolean runToCompletion) {
        this(link, operation, sizeBytes, threads, runToCompletion, StallWatch.LIMIT_NS);
    }

    /** With its own limit for the time without a completion. */
    RingpollPingPong(
        final Link link, final Traffic.Operation operation, final int sizeBytes, final HotThreads threads,
        final boolean runToCompletion, final long stallNs) {
        this.stallNs = stallNs;
        this.link = link;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.threads = threads;
        this.runToCompletion = runToCompletion;
    }

    @Override
    public String label() {
        return runToCompletion ? RUN_TO_COMPLETION_NAME : RingpollHandOff.NAME;
    }

    @Override
    public LatencyWindow run(final Turn turn) throws TimeoutException {
        final long fromNs = System.nanoTime() + START_NS + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final PingPongHandler handler =
            new PingPongHandler(link, operation, sizeBytes, fromNs, untilNs, turn.iterations());
        // Before the threads start: from then on the handler threads post.
        handler.serve();
        final PipelineGroup pipelines = runToCompletion ? startEnds(handler) :
            PipelineGroup.start(1, only -> threads.pipeline(handler, link.ends()));
        final CpuLoss loss;
        final List<PipelineReport> reports;
        try {
            // During the lead-in: with as many hot threads as CPUs, one of them would wait while this thread reads.
            final CpuWatch watch = CpuWatch.ofThisProcess();
            watch.start();
            Timing.sleepUntil(fromNs);
            awaitEnd(handler, pipelines, untilNs);
            loss = watch.stop();
            link.check(handler.hasFailed());
            handler.stop();
            Timing.await(handler::isAtRest, System.nanoTime() + REST_NS, "the last message's return");
        } finally {
            handler.stop();
            reports = pipelines.close(REST_NS);
        }
        final List<Throwable> failures =
            pipelines.pipelines().stream().map(Pipeline::failure).filter(Objects::nonNull).toList();
        String fault = handler.hasFailed() ? "an operation failed" : "";
        if (!failures.isEmpty() || !reports.stream().allMatch(PipelineReport::inTime)) {
            fault = "a pipeline failed: " + failures;
        }
        return new LatencyWindow(turn.round(), label(), handler.latencyNs(), 0, 0, loss, 0, fault);
    }

    @Override
    public void close() {
        link.close();
    }

    /** Waits until the last round trip or the end of the time; a turn without progress ends with an exception. */
    private void awaitEnd(final PingPongHandler handler, final PipelineGroup pipelines, final long untilNs)
        throws TimeoutException {
        final StallWatch stall = new StallWatch(label(), stallNs);
        while (!handler.isDone() && System.nanoTime() - untilNs < 0) {
            link.check(false);
            if (stall.isStalled(pipelines.pipelines().stream().mapToLong(each -> each.pollerCounters().completions()).sum())) {
                handler.stop();
                throw stall.failure(pipelines.close(0) + ", failures " +
                    pipelines.pipelines().stream().map(Pipeline::failure).filter(Objects::nonNull).toList());
            }
            LockSupport.parkNanos(LOOK_NS);
        }
    }

    /** Reads do not involve the peer: it has no thread. */
    private PipelineGroup startEnds(final PingPongHandler handler) {
        final List<LinkEnd> ends = operation == Traffic.Operation.READ ? List.of(link.client()) : link.ends();
        return PipelineGroup.start(ends.size(), end -> threads.runToCompletion(end == 0 ? "bench-client" : "bench-server",
            end == 0 ? threads.cpus().poller() : threads.cpus().handler(0), handler, List.of(ends.get(end))));
    }
}
