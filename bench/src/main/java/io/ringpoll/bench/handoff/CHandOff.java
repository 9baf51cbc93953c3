package io.ringpoll.bench.handoff;

import io.ringpoll.bench.baseline.BaselineOptions;
import io.ringpoll.bench.baseline.BaselineResult;
import io.ringpoll.bench.baseline.CBaseline;
import io.ringpoll.completion.CompletionPath;
import io.ringpoll.pipeline.WaitMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Plain C: the same job by {@code baseline.c}, with a hand-off or, as the lower bound, without. */
public final class CHandOff implements HandOff {
    /** Its label in results. */
    public static final String NAME = "c";
    /** The label in results of C without a hand-off: one thread polls and handles. */
    public static final String BARE_NAME = "c-bare-loop";

    private final boolean bare;

    private CHandOff(final boolean bare) {
        this.bare = bare;
    }

    /**
     * A poller and handlers, each on its own thread.
     *
     * @return the hand-off
     */
    public static CHandOff withThreads() {
        return new CHandOff(false);
    }

    /**
     * One thread polls and handles.
     *
     * @return the lower bound of all hand-offs
     */
    public static CHandOff bareLoop() {
        return new CHandOff(true);
    }

    @Override
    public String label() {
        return bare ? BARE_NAME : NAME;
    }

    @Override
    public boolean hasRing() {
        return !bare;
    }

    @Override
    public Running start(final Job job) {
        final List<BaselineOptions.Handler> handlers = new ArrayList<>();
        if (!bare) {
            for (final Set<CompletionPath> paths : job.paths()) {
                handlers.add(new BaselineOptions.Handler(paths, job.cpus().handler(handlers.size())));
            }
        }
        final BaselineOptions options = new BaselineOptions(handlers, job.ringSize(), job.batch(),
            job.waitStrategy() != WaitMode.BUSY_SPIN, job.cpus().poller(),
            job.recordFromNs(), job.recordUntilNs(), job.stallUs());
        final EmptyQueues.Pair more = job.emptyQueues();
        return new RunningBaseline(CBaseline.start(job.device(), options, more.inC(), more.queues().size()));
    }

    /** A running baseline. */
    private record RunningBaseline(CBaseline baseline) implements Running {
        @Override
        public long polled() {
            return baseline.published();
        }

        @Override
        public long handled() {
            return baseline.passed();
        }

        @Override
        public Outcome stop() {
            final BaselineResult result = baseline.stop();
            return new Outcome(result.published(), result.completions(), result.sum(), result.latencyNs(),
                result.queueFault() == 0 ? "" : "rpma_cq_get_wc returned " + result.queueFault());
        }
    }
}
