package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.Link;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.pipeline.PipelineReport;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;

/**
 * Measures round trips of ringpoll's pipelines. With a hand-off, one pipeline polls the queues of both ends, and its handler
 * thread answers; with run-to-completion handlers each end has a pipeline with one thread that polls and answers.
 */
final class RingpollPingPong implements Contestant {
    private static final String RUN_TO_COMPLETION_NAME = "ringpoll-run-to-completion";
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);
    /** Interval of the checks for the end of the turn. */
    static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(30);

    private final Link link;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final HotThreads threads;
    private final boolean runToCompletion;
    private final long stallNs;
    /** Null if the time of completions is not split. */
    private final Timestamps timestamps;

    RingpollPingPong(
        final Link link, final Traffic.Operation operation, final int sizeBytes, final HotThreads threads,
        final boolean runToCompletion, final Timestamps timestamps) {
        this(link, operation, sizeBytes, threads, runToCompletion, timestamps, StallWatch.LIMIT_NS);
    }

    /** With its own limit for the time without a completion. */
    RingpollPingPong(
        final Link link, final Traffic.Operation operation, final int sizeBytes, final HotThreads threads,
        final boolean runToCompletion, final Timestamps timestamps, final long stallNs) {
        this.stallNs = stallNs;
        this.timestamps = timestamps;
        this.link = link;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.threads = threads;
        this.runToCompletion = runToCompletion;
    }

    @Override
    public String label() {
        final String name = runToCompletion ? RUN_TO_COMPLETION_NAME : RingpollHandOff.NAME;
        return timestamps == null ? name : name + Timestamps.SUFFIX;
    }

    @Override
    public LatencyWindow run(final Turn turn) throws TimeoutException {
        final long fromNs = System.nanoTime() + START_NS + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final CompletionSplit split = timestamps == null ? null : timestamps.newSplit(threads.ringSize());
        final PingPongHandler handler =
            new PingPongHandler(link, operation, sizeBytes, fromNs, untilNs, turn.iterations(), split);
        // Before the threads start: from then on the handler threads post.
        handler.serve();
        final PipelineGroup pipelines = runToCompletion ? startEnds(handler, split) :
            PipelineGroup.start(1, only -> threads.pipeline(handler, stamped(link.queues(), split)));
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
        final LatencyWindow window = new LatencyWindow(turn.round(), label(), handler.latencyNs(), 0, 0, loss, 0, fault);
        return split == null ? window : window.with(split.times());
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
            LockSupport.parkNanos(CHECK_NS);
        }
    }

    private static List<CompletionQueue> stamped(final List<CompletionQueue> queues, final CompletionSplit split) {
        return split == null ? queues : queues.stream().map(split::stamped).toList();
    }

    /** Reads do not involve the peer: it has no thread. The split is of the client's pipeline. */
    private PipelineGroup startEnds(final PingPongHandler handler, final CompletionSplit split) {
        final List<LinkEnd> ends = operation == Traffic.Operation.READ ? List.of(link.client()) : link.ends();
        return PipelineGroup.start(ends.size(), end -> threads.runToCompletion(end == 0 ? "bench-client" : "bench-server",
            end == 0 ? threads.cpus().poller() : threads.cpus().handler(0), handler,
            stamped(List.of(ends.get(end).connection().completionQueue()), end == 0 ? split : null)));
    }
}
