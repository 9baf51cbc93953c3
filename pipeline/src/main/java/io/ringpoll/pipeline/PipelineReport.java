package io.ringpoll.pipeline;

/**
 * How far a pipeline has come, and what it leaves when it ends.
 *
 * @param polled    completions and faults that the poller has published
 * @param handled   of these, what every handler has passed and gives back
 * @param held      slots that handlers hold back still
 * @param inQueues  completions that were left in the queues when the pipeline stopped; {@link #UNKNOWN} if nobody could look
 *     because the poller has not ended, or if the pipeline goes on
 * @param inTime    whether all that was asked for came about within the time given
 */
public record PipelineReport(long polled, long handled, long held, long inQueues, boolean inTime) {
    /** Stands for a number that nobody could find out. */
    public static final long UNKNOWN = -1;

    /**
     * Published slots that some handler has not passed, or holds back.
     *
     * @return 0 unless a handler has died, holds slots, or the time ran out
     */
    public long unhandled() {
        return polled - handled;
    }
}
