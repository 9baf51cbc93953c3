package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.synthetic.CompletionKind;
import io.ringpoll.synthetic.CompletionMix;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;

/**
 * A synthetic queue of the loopback device, which returns completions as fast as they are polled, by critical calls.
 *
 * <p>Its count of returned completions detects polls, and must not change while the queue is detached. It ends after a while, so
 * that it can be drained.
 */
final class SyntheticQueue extends TorturedQueue {
    /** The queue pair number of its completions is this plus the number of the queue. */
    static final int FIRST_QUEUE_PAIR = 0x700000;

    /** A ring of this size passes few completions between two turns of its threads. */
    private static final int SMALL_RING = 64;
    private static final int KINDS = 16;
    private static final long CHECK_NS = 200_000;

    private final SyntheticSource source = SyntheticSource.open();
    private final Violations violations;
    private final LongAdder ended = new LongAdder();
    private volatile boolean closed;
    private long givenBefore;

    SyntheticQueue(final int number, final int ringSize, final SplittableRandom random,
        final Violations violations) {
        super(number);
        this.violations = violations;
        final int queuePair = FIRST_QUEUE_PAIR + number;
        final CompletionMix mix = CompletionMix.shares().add(CompletionKind.write(queuePair), KINDS / 2)
            .add(CompletionKind.receive(queuePair, 8), KINDS / 2 - 1).add(CompletionKind.flushed(queuePair), 1)
            .shuffled(random.nextLong());
        SyntheticProgram program = SyntheticProgram.of(mix, Schedule.saturation())
            .limitedTo(1L << 8 + random.nextInt(ringSize < SMALL_RING ? 6 : 13));
        if (random.nextBoolean()) {
            program = program.batchedBy(1 + random.nextInt(32), random.nextInt(4));
        }
        source.start(program);
    }

    @Override
    CompletionQueue queue() {
        return source.queue();
    }

    @Override
    void attach() {
    }

    @Override
    void detach() {
        final long before = source.given();
        LockSupport.parkNanos(CHECK_NS);
        violations.expect(source.given() == before,
            "synthetic queue " + number() + " was polled while it belonged to no pipeline");
    }

    @Override
    void feed(final SplittableRandom random) {
        // It is always full.
    }

    @Override
    boolean isUsable() {
        return !closed;
    }

    @Override
    void onCompletion(final WorkCompletion completion, final CompletionPath path, final String where) {
        ended.increment();
    }

    @Override
    void settle() {
        givenBefore = closed ? givenBefore : source.given();
    }

    @Override
    long missing() {
        return givenBefore - ended.sum();
    }

    @Override
    long ended() {
        return ended.sum();
    }

    /** Closes its device while other queues run; the caller holds the lock, and no pipeline has the queue. */
    void closeEarly() {
        if (!closed) {
            givenBefore = source.given();
            closed = true;
            source.close();
        }
    }

    @Override
    public void close() {
        closeEarly();
    }
}
