package io.ringpoll.bench.handoff;

import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.CompletionQueue;
import io.ringpoll.verbs.VerbsContext;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * What a hand-off is to do.
 *
 * @param queue         that ours and the alternatives poll
 * @param device        on which C makes a queue of its own; null if there is nothing for C
 * @param handlers      how many handlers share the paths, 1 to 3
 * @param ringSize      slots of the ring, or places in the queue, a power of two
 * @param batch         completions that a poll asks for
 * @param waitStrategy        how all threads wait
 * @param cpus          where they are pinned
 * @param recordFromNs  latency is recorded of completions due from here, by {@link System#nanoTime()}
 * @param recordUntilNs to before here; if both are 0, {@code wr_id} is summed up and no time is taken
 * @param stallUs       how long handlers sleep once, at the first completion, so that the ring fills; microseconds
 */
public record Job(CompletionQueue queue, VerbsContext device, int handlers, int ringSize, int batch, WaitMode waitStrategy,
                  HotCpus cpus, long recordFromNs, long recordUntilNs, int stallUs) {
    private static final Set<CompletionPath> ALL = EnumSet.allOf(CompletionPath.class);
    private static final Set<CompletionPath> SEND_WRITE = EnumSet.of(CompletionPath.SEND_WRITE);
    private static final Set<CompletionPath> RECEIVE = EnumSet.of(CompletionPath.RECEIVE);
    private static final Set<CompletionPath> ERROR = EnumSet.of(CompletionPath.ERROR);
    private static final Set<CompletionPath> RECEIVE_AND_ERROR = EnumSet.of(CompletionPath.RECEIVE, CompletionPath.ERROR);

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
     * @return as many sets as there are handlers; together they are all paths
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
