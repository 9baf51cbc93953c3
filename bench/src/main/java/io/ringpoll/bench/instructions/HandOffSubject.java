package io.ringpoll.bench.instructions;

import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.bench.handoff.Mixes;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.io.IOException;

/**
 * A poller or a handler of a saturated hand-off. The other threads run at full speed, so a traced poller always finds free slots
 * in the ring, and a traced handler always finds completions.
 */
final class HandOffSubject implements Subject {
    /** Completions of a full batch. */
    static final int BATCH = 32;
    /** Large enough that a traced poller never fills it. */
    private static final int RING_OF_POLLER = 1 << 16;
    /** Small: a handler publishes its progress at least once for each quarter of the ring. */
    private static final int RING_OF_HANDLER = 1024;

    private static final int FEWEST_COMPLETIONS = 100_000;

    private final SyntheticSource source;
    private final HandOff.Running running;
    private final String thread;
    private final boolean polls;
    private final double unit;

    /**
     * Starts a hand-off.
     *
     * @param handOff  the mechanism
     * @param handlers number of its handlers
     * @param thread   name of the traced thread
     * @param polls    whether this thread is the poller
     * @param unit     completions in a unit of work
     */
    HandOffSubject(final HandOff handOff, final int handlers, final String thread, final boolean polls, final double unit) {
        this.thread = thread;
        this.polls = polls;
        this.unit = unit;
        source = SyntheticSource.open();
        running = handOff.start(new Job(source.queue(), source.context(), handlers, polls ? RING_OF_POLLER : RING_OF_HANDLER,
            BATCH, WaitMode.YIELD, HotCpus.unpinned(), 0, 0, 0));
        source.start(SyntheticProgram.of(Mixes.usual(), Schedule.saturation()));
    }

    @Override
    public boolean hasRepeated() {
        return progress() >= FEWEST_COMPLETIONS;
    }

    @Override
    public Steps trace(final Stepper stepper, final int count) throws IOException, InterruptedException {
        final Steps steps = stepper.trace(thread, count, this::progress);
        return steps.withUnits(steps.units() / unit);
    }

    private long progress() {
        return polls ? running.polled() : running.handled();
    }

    @Override
    public void close() {
        source.stop();
        final String fault = running.stop().fault();
        source.close();
        if (!fault.isEmpty()) {
            throw new IllegalStateException(fault);
        }
    }
}
