package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.completion.WorkCompletions;
import io.ringpoll.internal.poller.QueueRegistry;
import io.ringpoll.internal.verbs.RecordAddress;
import io.ringpoll.internal.verbs.RecordFlyweight;
import io.ringpoll.internal.verbs.RecordSource;
import java.util.function.Consumer;
import org.agrona.ErrorHandler;

/**
 * Polls the completions that a stopped pipeline has not delivered, counts them and passes them to the user's consumer.
 *
 * <p>Belongs to the thread that stops the pipeline. An exception of the consumer or of a queue is recorded and does not change
 * the count.
 */
final class UndeliveredCompletions {
    /** Maximum number of completions: with a peer that keeps sending, the queues would never become empty. */
    static final long MAX_COMPLETIONS = 1 << 20;

    private static final int BATCH = 64;

    private final QueueRegistry queues;
    private final Consumer<WorkCompletion> consumer;
    private final ErrorHandler errorLog;
    private final WorkCompletions records = WorkCompletions.allocate(BATCH);
    private final WorkCompletion completion = new WorkCompletion();
    /** Index of the queue that is being polled. */
    private int queueIndex;
    /** Index of the record that is handed over. */
    private int position;
    /** Attachment of the queue that is being polled. */
    private Object attachment;

    UndeliveredCompletions(final QueueRegistry queues, final Consumer<WorkCompletion> consumer, final ErrorHandler errorLog) {
        this.queues = queues;
        this.consumer = consumer;
        this.errorLog = errorLog;
        RecordAddress.source(completion, new RecordSource() {
            @Override
            public int queueIndex(final long recordAddress) {
                return queueIndex;
            }

            @Override
            public long timestamp(final long recordAddress) {
                if (!queues.hasTimestamps(queueIndex)) {
                    throw new IllegalStateException(RecordFlyweight.NO_TIMESTAMP);
                }
                return records.timestamp(position);
            }

            @Override
            public Object attachment(final long recordAddress) {
                return attachment;
            }
        });
    }

    /** Polls the queues until they are empty, or {@link #MAX_COMPLETIONS}; returns the number. The poller has ended. */
    long take() {
        long count = 0;
        try {
            for (final CompletionQueue queue : queues.remaining()) {
                count += take(queue, MAX_COMPLETIONS - count);
            }
        } finally {
            completion.unwrap();
            attachment = null;
        }
        return count;
    }

    private long take(final CompletionQueue queue, final long limit) {
        long count = 0;
        queueIndex = queues.indexOf(queue);
        attachment = queues.attachment(queueIndex);
        while (count < limit) {
            final int polled = poll(queue, (int) Math.min(BATCH, limit - count));
            if (polled <= 0) {
                break;
            }
            for (int i = 0; i < polled; i++) {
                hand(i);
            }
            count += polled;
        }
        return count;
    }

    private int poll(final CompletionQueue queue, final int limit) {
        try {
            final int polled = queues.pollRemaining(queue, records, 0, limit);
            if (polled > limit) {
                // Of a user's queue: what it has written is unknown.
                throw new IllegalStateException(
                    queue.name() + ": the poll returned " + polled + " completions, at most " + limit + " were asked for");
            }
            if (polled < 0) {
                errorLog.onError(new IllegalStateException(queue.name() + " failed with code " + polled + " after the stop"));
            }
            return polled;
        } catch (final Throwable failure) {
            errorLog.onError(failure);
            return 0;
        }
    }

    private void hand(final int index) {
        position = index;
        try {
            consumer.accept(records.show(index, completion));
        } catch (final Throwable failure) {
            errorLog.onError(failure);
        }
    }
}
