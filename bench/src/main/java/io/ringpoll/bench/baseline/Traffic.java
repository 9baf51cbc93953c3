package io.ringpoll.bench.baseline;

import io.ringpoll.synthetic.Schedule;

/**
 * What goes over a connection in a measurement.
 *
 * @param operation  which
 * @param sizeBytes  of a message
 * @param schedule   when paced operations are due; not used by ping-pong
 * @param startNs    when the schedule starts, by {@link System#nanoTime()}
 * @param iterations ping-pong: how many round trips are recorded at most; 0 for no limit
 * @param posterCpu  CPU of the thread that posts paced operations, or {@link BaselineOptions#ANY_CPU}
 */
public record Traffic(Operation operation, int sizeBytes, Schedule schedule, long startNs, long iterations, int posterCpu) {
    /** Which operation is posted, by the values of {@code enum baseline_operation}. */
    public enum Operation {
        /** Send. */
        SEND,
        /** RDMA write; in ping-pong with immediate data, so that the other end gets a completion. */
        WRITE,
        /** RDMA read. */
        READ
    }
}
