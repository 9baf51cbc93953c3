package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineReport;
import io.ringpoll.synthetic.Schedule;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ringpoll at paced sends: a thread posts each at its due time; the time from then to the handler of its receive at the peer is
 * recorded. One pipeline polls the queues of both ends. A send waits for room in the send queue and for a posted receive, so that
 * there is no receiver-not-ready error.
 */
final class RingpollPacedSends implements Contestant {
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(5);

    private final LinkedPair pair;
    private final int sizeBytes;
    private final Schedule schedule;
    private final HotThreads threads;
    /** Null if the time of completions is not split. */
    private final Timestamps timestamps;

    RingpollPacedSends(final LinkedPair pair, final int sizeBytes, final Schedule schedule, final HotThreads threads,
        final Timestamps timestamps) {
        this.pair = pair;
        this.sizeBytes = sizeBytes;
        this.schedule = schedule;
        this.threads = threads;
        this.timestamps = timestamps;
        // One receive is posted when the connection is made, and each used one is posted again.
        for (int i = 1; i < LinkEnd.DEPTH; i++) {
            if (!pair.server().receive()) {
                throw new IllegalStateException("no room for " + LinkEnd.DEPTH + " receives");
            }
        }
    }

    @Override
    public String label() {
        return timestamps == null ? RingpollHandOff.NAME : RingpollHandOff.NAME + Timestamps.SUFFIX;
    }

    @Override
    public LatencyWindow run(final Turn turn) throws TimeoutException {
        final long startNs = System.nanoTime() + START_NS;
        final long fromNs = startNs + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final CompletionSplit split = timestamps == null ? null : timestamps.newSplit(threads.ringSize());
        final ArrivalHandler handler = new ArrivalHandler(pair, schedule, startNs, fromNs, untilNs, split);
        final Pipeline pipeline = threads.pipeline(handler,
            split == null ? pair.queues() : pair.queues().stream().map(split::stamped).toList()).start();
        final PacedPoster poster = new PacedPoster(schedule, threads, startNs, untilNs, due ->
            pair.client().connection().send(pair.client().memory(), 0, sizeBytes, true, due), handler::ended);
        poster.start();
        final WatchedTime watched = WatchedTime.between(fromNs, untilNs, handler::received);
        poster.end();
        Timing.await(() -> handler.ended() >= poster.posted() || handler.hasFailed(), System.nanoTime() + REST_NS,
            "the last messages' completions");
        final PipelineReport report = pipeline.stop(REST_NS);
        final LatencyWindow window = new LatencyWindow(turn.round(), label(), handler.latencyNs(),
            schedule.dueWithin(turn.lengthNs()), watched.handled(), watched.loss(), 0,
            fault(poster, handler, pipeline, report));
        return split == null ? window : window.with(split.times());
    }

    @Override
    public void close() {
        pair.close();
    }

    private static String fault(
        final PacedPoster poster, final ArrivalHandler handler, final Pipeline pipeline, final PipelineReport report) {
        if (handler.hasFailed()) {
            return "a send or a receive failed";
        }
        if (!poster.fault().isEmpty()) {
            return poster.fault();
        }
        return pipeline.failure() != null || !report.inTime() ? "the pipeline failed: " + pipeline.failure() : "";
    }
}
