package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.bench.handoff.Outcome;
import io.ringpoll.bench.link.HotThreads;
import io.ringpoll.bench.measure.AllocationWatch;
import io.ringpoll.bench.measure.CpuLoss;
import io.ringpoll.bench.measure.CpuWatch;
import io.ringpoll.bench.measure.Timing;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A hand-off over the synthetic queue: completions become visible at their due times, whether earlier ones were handled or not;
 * the time from then to the handler is recorded.
 */
final class SyntheticContestant implements Contestant {
    /** Maximum wait for completions that were due at the end of a turn. */
    private static final long LATEST_NS = TimeUnit.SECONDS.toNanos(2);

    private final HandOff handOff;
    private final SyntheticSource source;
    private final Schedule schedule;
    private final HotThreads threads;

    SyntheticContestant(
        final HandOff handOff, final SyntheticSource source, final Schedule schedule, final HotThreads threads) {
        this.handOff = handOff;
        this.source = source;
        this.schedule = schedule;
        this.threads = threads;
    }

    @Override
    public String label() {
        return handOff.label();
    }

    @Override
    public LatencyWindow run(final Turn turn) {
        source.stop();
        final long startNs = System.nanoTime() + handOff.startTimeNs();
        final long fromNs = startNs + turn.leadInNs();
        final long untilNs = fromNs + turn.lengthNs();
        final HandOff.Running running = handOff.start(new Job(source.queue(), source.context(), threads.handlers(),
            threads.ringSize(), threads.batch(), threads.waitStrategy(), threads.cpus(), fromNs, untilNs, 0));
        final long all = schedule.dueWithin(turn.leadInNs() + turn.lengthNs());
        source.start(SyntheticProgram.of(Mixes.usual(), schedule).startingAt(startNs).limitedTo(all));
        Timing.sleepUntil(fromNs);
        final CpuWatch watch = CpuWatch.ofThisProcess();
        final AllocationWatch allocations = new AllocationWatch();
        allocations.start();
        watch.start();
        source.takeLongestGapNs();
        final long before = running.handled();
        Timing.sleepUntil(untilNs);
        final long onTime = running.handled() - before;
        final double allocatedBytes = allocations.stop(onTime);
        final long gapNs = source.takeLongestGapNs();
        final CpuLoss loss = watch.stop();
        // Late completions that were due in the time have the highest latencies and must not be missing.
        final boolean complete = handledAll(running, all, untilNs + LATEST_NS);
        source.stop();
        final Outcome outcome = running.stop();
        final String fault = outcome.isSound(false) && complete ? "" :
            (outcome.fault().isEmpty() ? "incomplete" : outcome.fault())
                + " (due " + all + ", polled " + outcome.polled() + ", handled " + outcome.handled() + ")";
        return new LatencyWindow(turn.round(), label(), outcome.latencyNs(), schedule.dueWithin(turn.lengthNs()), onTime, loss,
            gapNs, allocatedBytes, fault, Optional.empty());
    }

    @Override
    public void close() {
        source.stop();
    }

    private static boolean handledAll(final HandOff.Running running, final long all, final long deadlineNs) {
        try {
            Timing.await(() -> running.handled() >= all, deadlineNs, "all that was due");
            return true;
        } catch (final TimeoutException late) {
            return false;
        }
    }
}
