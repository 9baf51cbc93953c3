package io.ringpoll.pipeline;

/**
 * What a pipeline leaves when it has been closed.
 *
 * @param polled      completions and faults that the poller published
 * @param unhandled   published slots that some handler never passed: 0 unless a handler has died or the time ran out
 * @param inTime      whether every thread ended within the time given
 */
public record PipelineReport(long polled, long unhandled, boolean inTime) {
}
