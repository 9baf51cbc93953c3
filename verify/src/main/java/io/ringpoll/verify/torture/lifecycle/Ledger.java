package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The number of ends of each work request of one queue, by index.
 *
 * <p>One thread at a time issues indexes; any thread records ends.
 */
final class Ledger {
    private final String name;
    private final Violations violations;
    private final AtomicIntegerArray ends;
    private final AtomicInteger issued = new AtomicInteger();
    private final AtomicInteger ended = new AtomicInteger();

    Ledger(final String name, final int capacity, final Violations violations) {
        this.name = name;
        this.violations = violations;
        this.ends = new AtomicIntegerArray(capacity);
    }

    boolean hasRoom() {
        return issued.get() < ends.length();
    }

    /** The index of the next work request. */
    int next() {
        return issued.get();
    }

    /** The work request with the index {@link #next()} has been accepted. */
    void onAccepted() {
        issued.incrementAndGet();
    }

    /**
     * Records a completion.
     *
     * @param index index of the work request
     * @param path  path of the completion
     * @param where receiver of the completion, for messages: a handler, or the drain of the queue
     */
    void onEnded(final int index, final CompletionPath path, final String where) {
        if (index < 0 || index >= ends.length() || index > issued.get()) {
            violations.add(
                name + ": a completion of work request " + index + ", which nobody posted, at " + where + " on " + path);
            return;
        }
        final int times = ends.incrementAndGet(index);
        if (times > 1) {
            violations.add(name + ": work request " + index + " ended " + times + " times, last at " + where + " on " + path);
        } else {
            ended.incrementAndGet();
        }
    }

    int accepted() {
        return issued.get();
    }

    int ended() {
        return ended.get();
    }

    /** The most work requests without a completion at any moment since {@link #ended()}, with one that is being posted. */
    int mostOpenSince(final int endedBefore) {
        return issued.get() + 1 - endedBefore;
    }

    /** Accepted work requests without a completion so far. */
    int open() {
        return issued.get() - ended.get();
    }
}
