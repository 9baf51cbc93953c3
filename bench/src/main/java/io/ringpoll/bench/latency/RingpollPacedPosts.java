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
    private final HandOff handOff = new RingpollHandOff();
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final Schedule schedule;
    private final HotThreads threads;

    RingpollPacedPosts(final Link link, final Traffic.Operation operation, final int sizeBytes, final Schedule schedule,
        final HotThreads threads) {
        this.link = link;
        this.operation = operation;
        this.sizeBytes = sizeBytes;
        this.schedule = schedule;
        this.threads = threads;
    }

    @Override
    public String label() {
        return handOff.label();
    }

    @Override
    public LatencyWindow run(final Turn turn) throws TimeoutException {
        final long startNs = System.nanoTime() + START_NS;
        final long fromNs = startNs + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final HandOff.Running running = handOff.start(new Job(
            link.client().connection().completionQueue(), null, threads.handlers(), threads.ringSize(), threads.batch(),
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
        return new LatencyWindow(
            turn.round(), label(), outcome.latencyNs(), schedule.dueWithin(turn.lengthNs()), watched.handled(),
            watched.loss(), 0, fault);
    }

    @Override
    public void close() {
        link.close();
    }

    private boolean post(final long due) {
        final LinkEnd end = link.client();
        return operation == Traffic.Operation.READ ?
            end.connection().read(end.memory(), 0, end.peerMemory(), 0, sizeBytes, true, due) :
            end.connection().write(end.peerMemory(), 0, end.memory(), 0, sizeBytes, true, due);
    }
}
