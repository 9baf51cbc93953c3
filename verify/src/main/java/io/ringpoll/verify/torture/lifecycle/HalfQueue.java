package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.rpma.RpmaCompletionQueue;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.WorkCompletion;
import io.ringpoll.verbs.WorkCompletions;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A completion queue of a connection; a half has one or two. */
final class HalfQueue extends TorturedQueue {
    private static final int BATCH = 64;
    private static final long SILENCE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long POLL_NS = 100_000;

    private final Half half;
    private final RpmaCompletionQueue queue;
    private final boolean first;

    HalfQueue(final int number, final Half half, final RpmaCompletionQueue queue, final boolean first) {
        super(number);
        this.half = half;
        this.queue = queue;
        this.first = first;
    }

    Half half() {
        return half;
    }

    @Override
    CompletionQueue queue() {
        return queue;
    }

    @Override
    void attach() {
    }

    @Override
    void detach() {
    }

    @Override
    void feed(final SplittableRandom random) {
        half.feed(random);
    }

    @Override
    void onCompletion(final WorkCompletion completion, final CompletionPath path, final String where) {
        half.onCompletion(completion, path, where);
    }

    /** Takes what the disconnect has flushed, until all has ended or nothing comes any more. */
    @Override
    void settle() {
        if (half.connection().isClosed()) {
            return;
        }
        half.link().disconnect();
        final WorkCompletions records = WorkCompletions.allocate(BATCH);
        final WorkCompletion completion = new WorkCompletion();
        long lastNs = System.nanoTime();
        while (half.missing() > 0 && System.nanoTime() - lastNs < SILENCE_NS) {
            final int count = queue.poll(records, 0, BATCH);
            for (int i = 0; i < count; i++) {
                records.show(i, completion);
                onCompletion(completion, completion.path(), "the scene's end");
                lastNs = System.nanoTime();
            }
            if (count <= 0) {
                LockSupport.parkNanos(POLL_NS);
                if (!first) {
                    return;
                }
            }
        }
    }

    @Override
    long missing() {
        return first ? half.missing() : 0;
    }

    @Override
    long ended() {
        return first ? half.ended() : 0;
    }

    @Override
    public void close() {
        if (first) {
            half.close();
        }
    }
}
