package io.ringpoll.bench.baseline;

import io.ringpoll.synthetic.Schedule;

/**
 * The traffic of a connection in a measurement.
 *
 * @param operation  the operation
 * @param sizeBytes  bytes of a message
 * @param schedule   due times of paced operations; not used by ping-pong
 * @param startNs    start of the schedule, by {@link System#nanoTime()}
 * @param iterations ping-pong: maximum number of recorded round trips; 0 for no limit
 * @param posterCpu  CPU of the thread that posts paced operations, or {@link BaselineOptions#ANY_CPU}
 */
public record Traffic(Operation operation, int sizeBytes, Schedule schedule, long startNs, long iterations, int posterCpu) {
    /** The posted operation, with the values of {@code enum baseline_operation}. */
    public enum Operation {
        /** Send. */
        SEND,
        /** RDMA write; in ping-pong with immediate data, so that the peer gets a completion. */
        WRITE,
        /** RDMA read. */
        READ
    }
}
