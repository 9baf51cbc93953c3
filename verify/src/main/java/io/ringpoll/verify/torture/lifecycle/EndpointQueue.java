package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A completion queue of a connection; an endpoint has one or two. */
final class EndpointQueue extends TorturedQueue {
    private static final int BATCH = 64;
    private static final long SILENCE_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long POLL_NS = 100_000;

    private final EndpointState endpoint;
    private final CompletionQueue queue;
    private final boolean first;

    EndpointQueue(final int number, final EndpointState endpoint, final CompletionQueue queue, final boolean first) {
        super(number);
        this.endpoint = endpoint;
        this.queue = queue;
        this.first = first;
    }

    EndpointState endpoint() {
        return endpoint;
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
        endpoint.feed(random);
    }

    @Override
    void onCompletion(final WorkCompletion completion, final CompletionPath path, final String where) {
        endpoint.onCompletion(completion, path, where);
    }

    /** Polls the flushed completions after the disconnect, until all have arrived or no more arrive. */
    @Override
    void settle() {
        if (endpoint.connection().isClosed()) {
            return;
        }
        endpoint.link().disconnect();
        final WorkCompletions records = WorkCompletions.allocate(BATCH);
        final WorkCompletion completion = new WorkCompletion();
        long lastNs = System.nanoTime();
        while (endpoint.missing() > 0 && System.nanoTime() - lastNs < SILENCE_NS) {
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
        return first ? endpoint.missing() : 0;
    }

    @Override
    String describeMissing() {
        return queue.name() + ": " + endpoint.describeMissing();
    }

    @Override
    long ended() {
        return first ? endpoint.ended() : 0;
    }

    @Override
    public void close() {
        if (first) {
            endpoint.close();
        }
    }
}
