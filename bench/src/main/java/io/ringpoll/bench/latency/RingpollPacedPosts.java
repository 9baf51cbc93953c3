package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Outcome;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.link.Link;
import io.ringpoll.bench.link.LinkEnd;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.synthetic.Schedule;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ringpoll at paced writes and reads: a thread posts each at its due time; the time from then to the handler of its completion is
 * recorded.
 */
final class RingpollPacedPosts implements Contestant {
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(30);

    private final Link link;
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final Schedule schedule;
    private final HotThreads threads;
    /** Null if the time of completions is not split. */
    private final Timestamps timestamps;

    RingpollPacedPosts(final Link link, final Traffic.Operation operation, final int sizeBytes, final Schedule schedule,
        final HotThreads threads, final Timestamps timestamps) {
        this.link = link;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.schedule = schedule;
        this.threads = threads;
        this.timestamps = timestamps;
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
        final CompletionQueue queue = link.client().connection().completionQueue();
        final HandOff.Running running = handOff(split, fromNs, untilNs).start(new Job(
            split == null ? queue : split.stamped(queue), null, threads.handlers(), threads.ringSize(), threads.batch(),
            threads.waitStrategy(), threads.cpus(), fromNs, untilNs, 0));
        final PacedPoster poster = new PacedPoster(schedule, threads, startNs, untilNs, this::post, running::polled);
        poster.start();
        final WatchedTime watched = WatchedTime.between(fromNs, untilNs, running::handled);
        poster.end();
        final Outcome outcome;
        try {
            link.check(false);
            Timing.await(
                () -> running.handled() >= poster.posted(), System.nanoTime() + REST_NS, "the last operations' completions");
        } finally {
            outcome = running.stop();
        }
        final String fault = !poster.fault().isEmpty() ? poster.fault() : outcome.isSound(false) ? "" :
            outcome.fault() + " (polled " + outcome.polled() + ", handled " + outcome.handled() + ")";
        final LatencyWindow window = new LatencyWindow(
            turn.round(), label(), outcome.latencyNs(), schedule.dueWithin(turn.lengthNs()), watched.handled(),
            watched.loss(), 0, fault);
        return split == null ? window : window.with(split.times());
    }

    @Override
    public void close() {
        link.close();
    }

    /** With its own handler's work only, or with the split before it. */
    private static HandOff handOff(final CompletionSplit split, final long fromNs, final long untilNs) {
        return split == null ? new RingpollHandOff() : RingpollHandOff.observed((completion, sequence, endOfBatch) -> {
            if (Long.compareUnsigned(completion.workRequestId() - fromNs, untilNs - fromNs) < 0) {
                split.record(completion, sequence, System.nanoTime());
            }
        });
    }

    private boolean post(final long due) {
        final LinkEnd end = link.client();
        return operation == Traffic.Operation.READ ?
            end.connection().read(end.memory(), 0, end.peerMemory(), 0, sizeBytes, true, due) :
            end.connection().write(end.peerMemory(), 0, end.memory(), 0, sizeBytes, true, due);
    }
}
