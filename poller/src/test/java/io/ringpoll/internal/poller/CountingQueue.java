package io.ringpoll.internal.poller;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.WorkCompletions;

/**
 * A completion queue without records: a test determines the number of completions, or the fault, that a poll returns. Its polls
 * allocate nothing.
 */
final class CountingQueue implements CompletionQueue {
    private final String name;
    private final Runnable log;
    private int completions;
    private int faultCode;
    private Runnable atPoll = () -> { };

    /**
     * Creates an empty queue.
     *
     * @param name for reports
     * @param log  run at each poll
     */
    CountingQueue(final String name, final Runnable log) {
        this.name = name;
        this.log = log;
    }

    /** Adds completions. */
    void add(final int number) {
        completions += number;
    }

    /** Makes every poll of the empty queue fail. */
    void failWith(final int code) {
        faultCode = code;
    }

    /** Runs an action once, at the next poll. */
    void atNextPoll(final Runnable action) {
        atPoll = () -> {
            atPoll = () -> { };
            action.run();
        };
    }

    /** Number of completions that have not been polled. */
    int completions() {
        return completions;
    }

    @Override
    public int poll(final WorkCompletions records, final int first, final int maxEntries) {
        log.run();
        atPoll.run();
        if (completions == 0) {
            return faultCode;
        }
        final int polled = Math.min(maxEntries, completions);
        completions -= polled;
        return polled;
    }

    @Override
    public String name() {
        return name;
    }
}
