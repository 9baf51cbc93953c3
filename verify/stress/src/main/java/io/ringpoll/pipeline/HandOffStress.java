package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import org.agrona.concurrent.UnsafeBuffer;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJ_Result;

/** A handler that reads a sequence sees all writes to the slots up to it. */
@JCStressTest
@Outcome(id = "-1, 0, 0", expect = Expect.ACCEPTABLE, desc = "not published yet")
@Outcome(id = "1, 7, 8", expect = Expect.ACCEPTABLE, desc = "both records, whole")
@State
public class HandOffStress {
    private static final int CAPACITY = 2;
    private static final int SECOND = IbvWc.SIZE_BYTES;

    private final UnsafeBuffer slots = new UnsafeBuffer(new byte[CAPACITY * IbvWc.SIZE_BYTES]);
    private final CompletionRing ring = new CompletionRing(slots, CAPACITY);

    /** Writes two records and publishes them as one batch. */
    @Actor
    public void poller() {
        final int claimed = ring.claim(CAPACITY);
        slots.putLong(ring.claimedOffset() + IbvWc.WR_ID_OFFSET, 7);
        slots.putLong(SECOND + IbvWc.IMM_DATA_OFFSET, 8);
        ring.publish(claimed, 0);
    }

    /** Reads the sequence, then the records. */
    @Actor
    public void handler(final JJJ_Result result) {
        final long cursor = ring.cursor().get();
        result.r1 = cursor;
        if (cursor >= 0) {
            result.r2 = slots.getLong(IbvWc.WR_ID_OFFSET);
            result.r3 = slots.getLong(SECOND + IbvWc.IMM_DATA_OFFSET);
        }
    }
}
