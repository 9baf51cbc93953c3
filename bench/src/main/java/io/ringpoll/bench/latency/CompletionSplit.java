package io.ringpoll.bench.latency;

import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.DeviceClock;
import io.ringpoll.completion.WorkCompletion;
import org.HdrHistogram.Histogram;

/**
 * Splits the time of completions into "device to poll" and "poll to handler", for one pipeline in one turn.
 *
 * <p>Owned by the handler thread; the times are read after the pipeline has ended.
 */
final class CompletionSplit {
    private final DeviceClock clock;
    private final PollTimes polls;
    private final Histogram deviceToPollNs = new Histogram(3);
    private final Histogram pollToHandlerNs = new Histogram(3);
    private long negative;
    private long lowestNs;

    /**
     * Creates it.
     *
     * @param clock    of the device, for the handler thread
     * @param ringSize slots of the pipeline's ring
     */
    CompletionSplit(final DeviceClock clock, final int ringSize) {
        this.clock = clock;
        this.polls = new PollTimes(ringSize);
    }

    /** A queue with timestamps, to be polled by the pipeline. All its queues are of this kind. */
    CompletionQueue stamped(final CompletionQueue queue) {
        return new StampedQueue(queue, polls);
    }

    /**
     * Records a completion.
     *
     * @param completion of a stamped queue
     * @param sequence   its sequence
     * @param handlerNs  when the handler was called
     */
    void record(final WorkCompletion completion, final long sequence, final long handlerNs) {
        final long polledNs = polls.polledNs(sequence);
        final long beforePollNs = polledNs - clock.nanoTime(completion.completionTimestamp());
        if (beforePollNs < 0) {
            negative++;
            lowestNs = Math.min(lowestNs, beforePollNs);
        }
        deviceToPollNs.recordValue(Math.max(0, beforePollNs));
        pollToHandlerNs.recordValue(Math.max(0, handlerNs - polledNs));
    }

    /** The recorded times. */
    SplitTimes times() {
        return new SplitTimes(deviceToPollNs, pollToHandlerNs, negative, lowestNs);
    }
}
