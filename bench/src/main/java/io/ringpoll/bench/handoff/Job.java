package io.ringpoll.bench.handoff;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.pipeline.WaitMode;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The job of a hand-off contestant: the polled queue, the sizes, the CPUs and the recording time.
 *
 * @param queue         the queue that ringpoll and the alternatives poll
 * @param device        the device on which C creates its own queue; null if C does not take part
 * @param handlers      number of handlers that share the paths, 1 to 3
 * @param ringSize      slots of the ring, or capacity of the queue, a power of two
 * @param batch         maximum completions per poll
 * @param waitStrategy  wait strategy of all threads
 * @param cpus          CPUs of the threads
 * @param recordFromNs  start of the recording time, inclusive, by {@link System#nanoTime()}
 * @param recordUntilNs end of the recording time, exclusive; if both are 0, {@code wr_id} is summed up and no latency is recorded
 * @param stallUs       time that handlers sleep once, at the first completion, so that the ring fills; microseconds
 * @param emptyQueues   empty queues that ringpoll and C poll in the same round, in addition to the first; alternatives do not
 */
public record Job(CompletionQueue queue, VerbsContext device, int handlers, int ringSize, int batch, WaitMode waitStrategy,
                  HotCpus cpus, long recordFromNs, long recordUntilNs, int stallUs, EmptyQueues.Pair emptyQueues) {
    private static final Set<CompletionPath> ALL = EnumSet.allOf(CompletionPath.class);
    private static final Set<CompletionPath> SEND_WRITE = EnumSet.of(CompletionPath.SEND_WRITE);
    private static final Set<CompletionPath> RECEIVE = EnumSet.of(CompletionPath.RECEIVE);
    private static final Set<CompletionPath> ERROR = EnumSet.of(CompletionPath.ERROR);
    private static final Set<CompletionPath> RECEIVE_AND_ERROR = EnumSet.of(CompletionPath.RECEIVE, CompletionPath.ERROR);

    /**
     * A job with one queue.
     *
     * @param queue         as above
     * @param device        as above
     * @param handlers      as above
     * @param ringSize      as above
     * @param batch         as above
     * @param waitStrategy  as above
     * @param cpus          as above
     * @param recordFromNs  as above
     * @param recordUntilNs as above
     * @param stallUs       as above
     */
    public Job(final CompletionQueue queue, final VerbsContext device, final int handlers, final int ringSize, final int batch,
        final WaitMode waitStrategy, final HotCpus cpus, final long recordFromNs, final long recordUntilNs, final int stallUs) {
        this(queue, device, handlers, ringSize, batch, waitStrategy, cpus, recordFromNs, recordUntilNs, stallUs,
            EmptyQueues.NONE);
    }

    /**
     * Whether latency is recorded.
     *
     * @return false if {@code wr_id} is summed up
     */
    public boolean recordsLatency() {
        return recordUntilNs != 0;
    }

    /**
     * The paths of each handler.
     *
     * @return one set per handler; together they are all paths
     */
    public List<Set<CompletionPath>> paths() {
        return switch (handlers) {
            case 1 -> List.of(ALL);
            case 2 -> List.of(SEND_WRITE, RECEIVE_AND_ERROR);
            case 3 -> List.of(SEND_WRITE, RECEIVE, ERROR);
            default -> throw new IllegalArgumentException(handlers + " handlers: there are three paths");
        };
    }
}
