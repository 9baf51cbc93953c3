package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.Work;
import io.ringpoll.bench.link.LinkedPair;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.synthetic.Schedule;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.HdrHistogram.Histogram;

/**
 * Handles paced sends that arrive at the server of a {@link LinkedPair}: records the latency of each and posts its receive again.
 * Messages arrive in send order, so the schedule has the due time of each.
 *
 * <p>Owned by the handler thread; other threads may read the counts.
 */
final class ArrivalHandler implements CompletionHandler {
    private static final VarHandle SENT;
    private static final VarHandle RECEIVED;

    static {
        try {
            final MethodHandles.Lookup lookup = MethodHandles.lookup();
            SENT = lookup.findVarHandle(ArrivalHandler.class, "sent", long.class);
            RECEIVED = lookup.findVarHandle(ArrivalHandler.class, "received", long.class);
        } catch (final ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final LinkedPair pair;
    private final long[] dueNs;
    private final long periodNs;
    private final Work work;
    private final long fromNs;
    private final long lengthNs;
    /** Null if the time of completions is not split. */
    private final CompletionSplit split;
    private long periodStartNs;
    private int index;
    private long sent;
    private long received;
    private volatile boolean failed;

    /**
     * Creates the handler.
     *
     * @param pair     the connection of the messages
     * @param schedule due times of the messages
     * @param startNs  start of the schedule
     * @param fromNs   start of the recording time, inclusive
     * @param untilNs  end of the recording time, exclusive
     * @param split    splits the time of the receives; null for none
     */
    ArrivalHandler(final LinkedPair pair, final Schedule schedule, final long startNs, final long fromNs, final long untilNs,
        final CompletionSplit split) {
        this.pair = pair;
        this.dueNs = schedule.dueNs();
        this.periodNs = schedule.periodNs();
        this.periodStartNs = startNs;
        this.work = Work.ofLatency(fromNs, untilNs);
        this.fromNs = fromNs;
        this.lengthNs = untilNs - fromNs;
        this.split = split;
    }

    /** The number of messages that have arrived and of receives that have been posted again. */
    long received() {
        return (long) RECEIVED.getAcquire(this);
    }

    /** The number of sends that have completed at both ends: the room, and the posted receives, for as many others. */
    long ended() {
        return Math.min((long) SENT.getAcquire(this), received());
    }

    boolean hasFailed() {
        return failed;
    }

    /** The recorded latencies; valid after the pipeline has ended. */
    Histogram latencyNs() {
        return work.latencyNs();
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final CompletionPath path = completion.path();
        if (path == CompletionPath.ERROR) {
            failed = true;
        } else if (path == CompletionPath.RECEIVE) {
            onMessage(completion, sequence);
        } else {
            SENT.setRelease(this, sent + 1);
        }
    }

    private void onMessage(final WorkCompletion completion, final long sequence) {
        final long due = periodStartNs + dueNs[index];
        if (split != null && Long.compareUnsigned(due - fromNs, lengthNs) < 0) {
            split.record(completion, sequence, System.nanoTime());
        }
        work.onCompletion(due);
        index++;
        if (index == dueNs.length) {
            index = 0;
            periodStartNs += periodNs;
        }
        if (!pair.server().receive()) {
            failed = true;
        }
        RECEIVED.setRelease(this, received + 1);
    }
}
