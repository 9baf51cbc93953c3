package io.ringpoll.bench.latency;

import io.ringpoll.bench.baseline.Traffic;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Outcome;
import io.ringpoll.bench.handoff.RingpollHandOff;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.pipeline.HandlerWait;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.synthetic.Schedule;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Ours at paced operations: a thread posts each at its due time, and what is recorded is the time from then to its completion's
 * handler. An operation that has to wait for room in the send queue is posted late, but counts from when it was due.
 */
final class RingpollPacedPosts implements Contestant {
    private static final long START_NS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final long CATCH_UP_NS = TimeUnit.SECONDS.toNanos(4);
    private static final long REST_NS = TimeUnit.SECONDS.toNanos(5);

    private final LinkedPair pair;
    private final HandOff handOff = new RingpollHandOff();
    private final Traffic.Operation operation;
    private final int sizeBytes;
    private final Schedule schedule;
    private final HotThreads threads;

    RingpollPacedPosts(final LinkedPair pair, final Traffic.Operation operation, final int sizeBytes, final Schedule schedule,
        final HotThreads threads) {
        this.pair = pair;
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
        final HandOff.Running running = handOff.start(new Job(pair.client().completionQueue(), null, threads.handlers(),
            threads.ringSize(), threads.batch(), threads.waitBy(), threads.cpus(), fromNs, untilNs, 0));
        final Poster poster = new Poster(running, startNs, untilNs);
        poster.start();
        Timing.sleepUntil(fromNs);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        watch.start();
        final long before = running.handled();
        Timing.sleepUntil(untilNs);
        final long onTime = running.handled() - before;
        final CpuLoss loss = watch.stop();
        poster.end();
        Timing.await(() -> running.handled() >= poster.posted, System.nanoTime() + REST_NS, "the last operations' completions");
        final Outcome outcome = running.stop();
        final String fault = !poster.fault.isEmpty() ? poster.fault : outcome.isSound(false) ? "" :
            outcome.fault() + " (polled " + outcome.polled() + ", handled " + outcome.handled() + ")";
        return new LatencyWindow(
            turn.round(), label(), outcome.latencyNs(), schedule.dueWithin(turn.lengthNs()), onTime, loss, 0, fault);
    }

    @Override
    public void close() {
        pair.close();
    }

    /** The thread that posts. */
    private final class Poster extends Thread {
        private final HandOff.Running running;
        private final long startNs;
        private final long untilNs;
        /** As last seen: the pipeline's own line is looked at only when there may be no room. */
        private long completed;
        private volatile boolean stopped;
        private volatile long posted;
        private volatile String fault = "";

        Poster(final HandOff.Running running, final long startNs, final long untilNs) {
            super("bench-poster");
            setDaemon(true);
            this.running = running;
            this.startNs = startNs;
            this.untilNs = untilNs;
        }

        void end() {
            stopped = true;
            try {
                join(TimeUnit.NANOSECONDS.toMillis(REST_NS));
            } catch (final InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        @Override
        public void run() {
            try {
                if (threads.poster() != HotCpus.ANY) {
                    ThreadAffinity.pin(threads.poster());
                }
                post(schedule.dueNs(), schedule.periodNs());
            } catch (final RuntimeException failure) {
                fault = failure.toString();
            }
        }

        private void post(final long[] dueNs, final long periodNs) {
            long periodStartNs = startNs;
            long count = 0;
            int index = 0;
            while (awaitTurn(periodStartNs + dueNs[index], count)) {
                if (!post(periodStartNs + dueNs[index])) {
                    throw new IllegalStateException("the send queue was full with " + LinkedPair.DEPTH + " in flight");
                }
                count++;
                posted = count;
                index++;
                if (index == dueNs.length) {
                    index = 0;
                    periodStartNs += periodNs;
                }
            }
        }

        /** Waits for the time and for room; false if the run is over. */
        private boolean awaitTurn(final long due, final long count) {
            // What was due within the turn is posted however late: the latest would be missing from the histogram.
            while (!stopped || due - untilNs < 0) {
                if (System.nanoTime() - untilNs >= CATCH_UP_NS) {
                    throw new IllegalStateException("posts that were due had not been made " +
                        TimeUnit.NANOSECONDS.toSeconds(CATCH_UP_NS) + " seconds after the turn");
                }
                if (count - completed >= LinkedPair.DEPTH) {
                    completed = running.polled();
                } else if (System.nanoTime() - due >= 0) {
                    return true;
                }
                if (threads.waitBy() == HandlerWait.BUSY_SPIN) {
                    Thread.onSpinWait();
                } else {
                    Thread.yield();
                }
            }
            return false;
        }

        private boolean post(final long due) {
            return operation == Traffic.Operation.READ ?
                pair.client().read(pair.clientMemory(), 0, pair.serverFromClient(), 0, sizeBytes, CompletionFlag.ALWAYS, due) :
                pair.client().write(pair.serverFromClient(), 0, pair.clientMemory(), 0, sizeBytes, CompletionFlag.ALWAYS, due);
        }
    }
}
