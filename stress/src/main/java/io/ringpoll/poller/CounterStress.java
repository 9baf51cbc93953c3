package io.ringpoll.poller;

import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** Whoever sees the number of slots published sees the counts of the paths that belong to it: the counters agree. */
@JCStressTest
@Outcome(id = "0, [0-7]", expect = Expect.ACCEPTABLE, desc = "published later")
@Outcome(id = "7, 7", expect = Expect.ACCEPTABLE, desc = "published, and all counted")
@State
public class CounterStress {
    private static final int COUNTERS = 96;

    private final PollerCounters counters = new PollerCounters(
        new CountersManager(new UnsafeBuffer(new byte[COUNTERS * CountersReader.METADATA_LENGTH]),
            new UnsafeBuffer(new byte[COUNTERS * CountersReader.COUNTER_LENGTH])), "p");

    /** Counts a batch of 7. */
    @Actor
    public void poller() {
        counters.onBatch(7, 2, 1);
    }

    /** Reads. */
    @Actor
    public void reader(final JJ_Result result) {
        result.r1 = counters.published.get();
        result.r2 = counters.completions();
    }
}
