package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.Work;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.verbs.CompletionPath;
import io.ringpoll.verbs.WorkCompletion;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import org.HdrHistogram.Histogram;

/**
 * Takes paced sends as they arrive at the server of a {@link LinkedPair}: records how late each is, and posts its receive again.
 * Messages arrive in the order in which they were sent, so the schedule tells when each was due.
 *
 * <p>Belongs to the handler's thread; the counts may be read by others.
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
    private long periodStartNs;
    private int index;
    private long sent;
    private long received;
    private volatile boolean failed;

    /**
     * Expects messages.
     *
     * @param pair     over which they come
     * @param schedule when they are due
     * @param startNs  when it starts
     * @param fromNs   messages are recorded that were due from here ...
     * @param untilNs  ... to before here
     */
    ArrivalHandler(final LinkedPair pair, final Schedule schedule, final long startNs, final long fromNs, final long untilNs) {
        this.pair = pair;
        this.dueNs = schedule.dueNs();
        this.periodNs = schedule.periodNs();
        this.periodStartNs = startNs;
        this.work = Work.ofLatency(fromNs, untilNs);
    }

    /** How many messages have arrived; as many receives have been posted again. */
    long received() {
        return (long) RECEIVED.getAcquire(this);
    }

    /** How many sends have completed at both ends: there is room, and a receive, for as many others. */
    long ended() {
        return Math.min((long) SENT.getAcquire(this), received());
    }

    boolean hasFailed() {
        return failed;
    }

    /** What was recorded; to be read when the pipeline has ended. */
    Histogram latencyNs() {
        return work.latencyNs();
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final CompletionPath path = completion.path();
        if (path == CompletionPath.ERROR) {
            failed = true;
        } else if (path == CompletionPath.RECEIVE) {
            onMessage();
        } else {
            SENT.setRelease(this, sent + 1);
        }
    }

    private void onMessage() {
        work.onCompletion(periodStartNs + dueNs[index]);
        index++;
        if (index == dueNs.length) {
            index = 0;
            periodStartNs += periodNs;
        }
        if (!pair.receiveAtServer()) {
            failed = true;
        }
        RECEIVED.setRelease(this, received + 1);
    }
}
