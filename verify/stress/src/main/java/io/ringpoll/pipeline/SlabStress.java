package io.ringpoll.pipeline;

import io.ringpoll.completion.IbvWc;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJZ_Result;

/**
 * The last of the threads that retain a slab frees it, in any order; until then each of them reads and writes it.
 *
 * <p>A slab is expensive to make and to free, so there are few of them, and their last releases seldom meet. Each thread
 * therefore retains and releases its slab often: a count that loses one update in many is wrong at the end.
 */
@JCStressTest
@Outcome(id = "7, 8, true", expect = Expect.ACCEPTABLE, desc = "usable for each, then freed")
@State
public class SlabStress {
    private static final int SECOND = IbvWc.SIZE_BYTES;
    private static final int USES = 200;

    private final CompletionSlab slab = new CompletionSlab(2);

    /** Initial state: two references. */
    public SlabStress() {
        slab.retain();
    }

    /** Uses a slot like a poller that outlives a stop, retains the slab for other threads, and releases its reference. */
    @Actor
    public void poller(final JJZ_Result result) {
        slab.buffer().putLong(0, 7);
        retainAndRelease();
        result.r1 = slab.buffer().getLong(0);
        slab.release();
    }

    /** Uses another slot and releases its reference. */
    @Actor
    public void handler(final JJZ_Result result) {
        slab.buffer().putLong(SECOND, 8);
        retainAndRelease();
        result.r2 = slab.buffer().getLong(SECOND);
        slab.release();
    }

    private void retainAndRelease() {
        for (int i = 0; i < USES; i++) {
            slab.retain();
            slab.release();
        }
    }

    /** No references are left. */
    @Arbiter
    public void end(final JJZ_Result result) {
        result.r3 = slab.isFreed();
    }
}
