package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.IdleStrategies;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineReport;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ours at ping-pong: one pipeline polls both ends' queues, and one handler answers.
 */
final class RingpollPingPong implements Contestant {
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(5);

    private final LinkedPair pair;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final HotThreads threads;

    RingpollPingPong(
        final LinkedPair pair, final Traffic.Operation operation, final int sizeBytes, final HotThreads threads) {
        this.pair = pair;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.threads = threads;
    }

    @Override
    public String label() {
        return RingpollHandOff.NAME;
    }

    @Override
    public LatencyWindow run(final Turn turn) throws TimeoutException {
        final long fromNs = System.nanoTime() + START_NS + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final PingPongHandler handler =
            new PingPongHandler(pair, operation, sizeBytes, fromNs, untilNs, turn.iterations());
        // Before the threads start: from then on the handler's thread posts.
        handler.serve();
        final Pipeline pipeline = start(handler);
        Timing.sleepUntil(fromNs);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        try {
            Timing.await(handler::isDone, untilNs, "the end of the turn");
        } catch (final TimeoutException timeIsUp) {
            // By time, not by iterations.
        }
        final CpuLoss loss = watch.stop();
        handler.stop();
        Timing.await(handler::isAtRest, System.nanoTime() + REST_NS, "the last message's return");
        final PipelineReport report = pipeline.close(REST_NS);
        String fault = handler.hasFailed() ? "an operation failed" : "";
        if (pipeline.failure() != null || !report.inTime()) {
            fault = "the pipeline failed: " + pipeline.failure();
        }
        return new LatencyWindow(turn.round(), label(), handler.latencyNs(), 0, 0, loss, 0, fault);
    }

    @Override
    public void close() {
        pair.close();
    }

    private Pipeline start(final PingPongHandler handler) {
        final PipelineBuilder builder = Pipeline.builder().name("bench").pollerName("bench-poller")
            .ringSize(threads.ringSize()).batchLimit(threads.batch()).queue(pair.client().completionQueue())
            .queue(pair.server().completionQueue()).idleStrategy(IdleStrategies.ofPoller(threads.waitBy()));
        if (threads.cpus().poller() != HotCpus.ANY) {
            builder.pollerCpu(threads.cpus().poller());
        }
        builder.onAll(handler, options -> {
            options.waitBy(threads.waitBy()).name("bench-handler");
            if (threads.cpus().handler(0) != HotCpus.ANY) {
                options.cpu(threads.cpus().handler(0));
            }
        });
        return builder.start();
    }
}
