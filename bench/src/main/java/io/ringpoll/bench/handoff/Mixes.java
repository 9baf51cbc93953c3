package io.ringpoll.bench.handoff;

import io.ringpoll.synthetic.CompletionKind;
import io.ringpoll.synthetic.CompletionMix;

/** The completion mixes of the measurements. */
public final class Mixes {
    private static final int QUEUE_PAIR = 7;
    private static final int LENGTH_BYTES = 64;
    private static final long SEED = 1;

    private Mixes() {
    }

    /**
     * Half writes and sends, half receives, and one error in 1,024 completions, in random order.
     *
     * @return a constant
     */
    public static CompletionMix usual() {
        return CompletionMix.shares().add(CompletionKind.send(QUEUE_PAIR), 256).add(CompletionKind.write(QUEUE_PAIR), 256)
            .add(CompletionKind.receive(QUEUE_PAIR, LENGTH_BYTES), 511).add(CompletionKind.flushed(QUEUE_PAIR), 1)
            .shuffled(SEED);
    }
}
