package io.ringpoll.internal.poller;

import io.ringpoll.completion.WcStatus;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A thread that reads the errors of a path sees at least as many by status: the counters agree. */
@JCStressTest
@Outcome(id = {"0, 0", "0, 1"}, expect = Expect.ACCEPTABLE, desc = "counted later")
@Outcome(id = "1, 1", expect = Expect.ACCEPTABLE, desc = "counted by status, and by path")
@State
public class CounterStress {
    private static final int COUNTERS = 96;

    private final PollerCounterSet counters = new PollerCounterSet(
        new CountersManager(new UnsafeBuffer(new byte[COUNTERS * CountersReader.METADATA_LENGTH]),
            new UnsafeBuffer(new byte[COUNTERS * CountersReader.COUNTER_LENGTH])), "p");

    /** Counts an error, as the handler of the error path does. */
    @Actor
    public void handler() {
        counters.onError(WcStatus.WR_FLUSH_ERR);
        counters.onErrors(1);
    }

    /** Reads the counters. */
    @Actor
    public void reader(final JJ_Result result) {
        result.r1 = counters.errors();
        result.r2 = counters.errors(WcStatus.WR_FLUSH_ERR);
    }
}
