package io.ringpoll.pipeline;

/**
 * The progress of a pipeline, and the remainder at its end.
 *
 * @param polled   completions and faults published by the poller
 * @param handled  of these, the number that every handler has passed and released
 * @param held     slots still held by handlers
 * @param inQueues completions left in the queues at the stop of the pipeline; {@link #UNKNOWN} if the poller has not ended or the
 *     pipeline continues
 * @param inTime   whether the call completed within its time-out
 */
public record PipelineReport(long polled, long handled, long held, long inQueues, boolean inTime) {
    /** Value of an unknown number. */
    public static final long UNKNOWN = -1;

    /**
     * Published slots that at least one handler has not passed, or holds.
     *
     * @return 0 unless a handler has halted, slots are held, or the call timed out
     */
    public long unhandled() {
        return polled - handled;
    }
}
