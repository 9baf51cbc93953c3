package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JZJ_Result;

/** The poller never reuses a slot that a handler holds; after another thread has released it, it is free. */
@JCStressTest
@Outcome(id = "(-1|0), true, 1", expect = Expect.ACCEPTABLE, desc = "given back, and free after that")
@Outcome(id = "(-1|0), false, 0", expect = Expect.ACCEPTABLE, desc = "released before the hold: still held")
@Outcome(id = "1, .*", expect = Expect.FORBIDDEN, desc = "a held slot became free")
@State
public class HeldSlotStress {
    private final Sequence passed = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final HeldSlots held = new HeldSlots(passed, 4, 1);

    /** Holds slot 1 and passes both. */
    @Actor
    public void handler() {
        passed.set(0);
        held.hold(1);
        passed.set(1);
    }

    /** Reads the gating position, then releases slot 1 if it is held by then. */
    @Actor
    public void poller(final JZJ_Result result) {
        result.r1 = held.get();
        result.r2 = held.release(1);
    }

    /** The final gating position. */
    @Arbiter
    public void end(final JZJ_Result result) {
        result.r3 = held.get();
    }
}
