package io.ringpoll.bench.routing;

import io.ringpoll.verbs.CompletionPath;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A way from one poller to a handler for each path; the poller's side.
 *
 * <p>Owned by the polling thread; {@link #reader} is called before it starts.
 */
interface Exchange {
    /** Slots of each ring. */
    int CAPACITY = 8192;
    int MASK = CAPACITY - 1;
    /** How many slots a handler passes at most before it says so. */
    int READ_LIMIT = CAPACITY / 4;

    /** The memory that a poll is given. */
    UnsafeBuffer slots();

    /** How many records a poll may write at {@link #offset()}; 0 if a handler is behind. */
    int claim(int limit);

    /** Where the next poll writes, in bytes. */
    int offset();

    /** Hands the records over that a poll has written. */
    void publish(int count);

    /** The handler's side of a path. */
    Reader reader(CompletionPath path);

    /** Takes the completions of one path; its handler's thread only. */
    @FunctionalInterface
    interface Reader {
        /**
         * Takes what has been published.
         *
         * @param sink shown each completion of the path
         * @return how many
         */
        int read(Sink sink);
    }

    /** What the handler does with a completion. */
    @FunctionalInterface
    interface Sink {
        void accept(UnsafeBuffer buffer, int offset, boolean endOfBatch);
    }
}
