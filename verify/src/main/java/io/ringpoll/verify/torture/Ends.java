package io.ringpoll.verify.torture;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * The ends of the work requests of one queue, by index, as recorded by the handlers.
 *
 * <p>Written by the thread of each handler; read by the posting thread. An end is published by its count.
 */
final class Ends {
    /** vendor_err of the loopback device for injected faults. */
    static final int INJECTED = 0x601;

    private final AtomicIntegerArray counts;
    private final AtomicIntegerArray observed;
    private final int[] statuses;
    private final int[] vendorErrors;
    private final int[] immediates;
    private final int[] lengths;
    private final long[] sequences;
    private final CompletionPath[] paths;

    Ends(final int workRequests) {
        counts = new AtomicIntegerArray(workRequests);
        observed = new AtomicIntegerArray(workRequests);
        statuses = new int[workRequests];
        vendorErrors = new int[workRequests];
        immediates = new int[workRequests];
        lengths = new int[workRequests];
        sequences = new long[workRequests];
        paths = new CompletionPath[workRequests];
    }

    int size() {
        return statuses.length;
    }

    /** A handler of a path received the completion. */
    void record(final int index, final CompletionPath path, final WorkCompletion completion, final long sequence) {
        statuses[index] = completion.status();
        if (completion.status() == WcStatus.SUCCESS) {
            immediates[index] = completion.hasImmediate() ? completion.immediate() : 0;
            lengths[index] = completion.lengthBytes();
        } else {
            vendorErrors[index] = completion.vendorError();
        }
        sequences[index] = sequence;
        paths[index] = path;
        counts.incrementAndGet(index);
    }

    /** The observing handler received the completion. */
    void observe(final int index) {
        observed.incrementAndGet(index);
    }

    int count(final int index) {
        return counts.get(index);
    }

    int observed(final int index) {
        return observed.get(index);
    }

    boolean hasEnded(final int index) {
        return counts.get(index) > 0;
    }

    int status(final int index) {
        return statuses[index];
    }

    boolean isInjected(final int index) {
        return vendorErrors[index] == INJECTED;
    }

    int immediate(final int index) {
        return immediates[index];
    }

    int lengthBytes(final int index) {
        return lengths[index];
    }

    long sequence(final int index) {
        return sequences[index];
    }

    CompletionPath path(final int index) {
        return paths[index];
    }
}
