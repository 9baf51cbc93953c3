package io.ringpoll.bench.instructions;

import io.ringpoll.bench.handoff.EmptyQueues;
import io.ringpoll.bench.handoff.HandOff;
import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.Job;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.SyntheticSource;
import java.io.IOException;

/**
 * A poller with many queues, all empty. A unit is one poll, from one arrival at the start of the polling function to the next.
 */
final class RoundSubject implements Subject {
    private static final int RING = 1024;
    private static final int BATCH = 32;

    private final SyntheticSource source = SyntheticSource.open();
    private final EmptyQueues empty;
    private final HandOff.Running running;
    private final String thread;
    private final long function;

    /**
     * Starts a hand-off.
     *
     * @param handOff  the mechanism
     * @param queues   number of queues
     * @param thread   name of the polling thread
     * @param function address of the function that polls a queue
     */
    RoundSubject(final HandOff handOff, final int queues, final String thread, final long function) {
        this.thread = thread;
        this.function = function;
        source.stop();
        empty = new EmptyQueues(queues - 1);
        running = handOff.start(new Job(source.queue(), source.context(), 1, RING, BATCH, WaitMode.BUSY_SPIN, HotCpus.unpinned(),
            0, 0, 0, empty.all()));
    }

    /** Nothing counts empty polls. */
    @Override
    public boolean hasRepeated() {
        return true;
    }

    @Override
    public Steps trace(final Stepper stepper, final int count) throws IOException, InterruptedException {
        final Steps steps = stepper.trace(thread, count, function);
        return steps.withUnits(steps.at(function));
    }

    @Override
    public void close() {
        final String fault = running.stop().fault();
        empty.close();
        source.close();
        if (!fault.isEmpty()) {
            throw new IllegalStateException(fault);
        }
    }
}
