package io.ringpoll.internal.poller;

import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A thread that reads the completions counted by path sees at least as many published: the counters agree. */
@JCStressTest
@Outcome(id = {"0, 0", "0, 7"}, expect = Expect.ACCEPTABLE, desc = "counted later")
@Outcome(id = "[1-7], 7", expect = Expect.ACCEPTABLE, desc = "published, and counted")
@State
public class CounterStress {
    private static final int COUNTERS = 96;

    private final PollerCounterSet counters = new PollerCounterSet(
        new CountersManager(new UnsafeBuffer(new byte[COUNTERS * CountersReader.METADATA_LENGTH]),
            new UnsafeBuffer(new byte[COUNTERS * CountersReader.COUNTER_LENGTH])), "p");

    /** Counts a batch of 7, as the poller and its tally do. */
    @Actor
    public void poller() {
        counters.published.getAndAddRelease(7);
        counters.onBatches(1, 7, 2, 1, 7);
    }

    /** Reads the counters. */
    @Actor
    public void reader(final JJ_Result result) {
        result.r1 = counters.completions();
        result.r2 = counters.published.get();
    }
}
