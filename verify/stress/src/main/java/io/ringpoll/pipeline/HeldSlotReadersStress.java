package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJ_Result;

/** The poller and a later stage read the position of a handler at the same time; neither passes a held slot, nor goes back. */
@JCStressTest
@Outcome(id = {"1, (1|3), 3, 3", "3, 3, 3, 3"}, expect = Expect.ACCEPTABLE, desc = "held, then given back")
@Outcome(id = "3, 1, .*", expect = Expect.FORBIDDEN, desc = "a reader went back")
@Outcome(id = {"(0|2), .*", ".*, (0|2), .*, .*", ".*, .*, (0|1|2), .*"}, expect = Expect.FORBIDDEN,
    desc = "not where a hold ends")
@State
public class HeldSlotReadersStress {
    private final Sequence passed = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);
    private final HeldSlots held = new HeldSlots(passed, 4, 2);

    /** Initial state: four slots passed, the third one held. */
    public HeldSlotReadersStress() {
        held.hold(2);
        passed.set(3);
    }

    /** Reads the gating position twice. */
    @Actor
    public void poller(final JJJJ_Result result) {
        result.r1 = held.get();
        result.r2 = held.get();
    }

    /** Releases the slot, and reads as well. */
    @Actor
    public void stage(final JJJJ_Result result) {
        held.release(2);
        result.r3 = held.get();
    }

    /** The final gating position. */
    @Arbiter
    public void end(final JJJJ_Result result) {
        result.r4 = held.get();
    }
}
