package io.ringpoll.pipeline;

import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.Sequencer;
import io.ringpoll.completion.IbvWc;
import java.util.List;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJ_Result;

/** A slot is overwritten only after the handler has read and passed it. */
@JCStressTest
@Outcome(id = "7, (0|1)", expect = Expect.ACCEPTABLE, desc = "read before it was reused, or not reused")
@Outcome(id = "9, .*", expect = Expect.FORBIDDEN, desc = "overwritten under the handler")
@State
public class SlotReuseStress {
    private static final int CAPACITY = 2;

    private final UnsafeBuffer slots = new UnsafeBuffer(new byte[CAPACITY * IbvWc.SIZE_BYTES]);
    private final CompletionRing ring = new CompletionRing(slots, CAPACITY);
    private final Sequence passed = new Sequence(Sequencer.INITIAL_CURSOR_VALUE);

    /** Initial state: a full ring. */
    public SlotReuseStress() {
        ring.gate(List.of(passed), List.of());
        ring.claim(CAPACITY);
        slots.putLong(IbvWc.WR_ID_OFFSET, 7);
        ring.publish(CAPACITY, 0);
    }

    /** Reads the first slot, then passes it. */
    @Actor
    public void handler(final JJ_Result result) {
        result.r1 = slots.getLong(IbvWc.WR_ID_OFFSET);
        passed.set(0);
    }

    /** Overwrites it as soon as it is free. */
    @Actor
    public void poller(final JJ_Result result) {
        final int claimed = ring.claim(1);
        if (claimed > 0) {
            slots.putLong(ring.claimedOffset() + IbvWc.WR_ID_OFFSET, 9);
            ring.publish(claimed, 0);
        }
        result.r2 = claimed;
    }
}
