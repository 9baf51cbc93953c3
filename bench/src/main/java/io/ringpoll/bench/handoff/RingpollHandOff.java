package io.ringpoll.bench.handoff;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.BatchHandler;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.HandlerOptions;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.PipelineReport;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.HdrHistogram.Histogram;

/** A {@link Pipeline} as a user would build it, with its counters and checks. */
public final class RingpollHandOff implements HandOff {
    /** Its label in results. */
    public static final String NAME = "ringpoll";
    /** The label in results of the form with plain rounds. */
    public static final String PLAIN_ROUNDS_NAME = "ringpoll-plain-rounds";

    private static final long STOP_NS = TimeUnit.SECONDS.toNanos(10);

    private final Mode mode;
    private final boolean plainRounds;
    /** Null for none. */
    private final CompletionHandler observer;

    /** Creates the hand-off, with handlers of single completions. */
    public RingpollHandOff() {
        this(Mode.SINGLE);
    }

    /**
     * Creates the hand-off.
     *
     * @param mode how completions get to its handlers
     */
    public RingpollHandOff(final Mode mode) {
        this(mode, false, null);
    }

    private RingpollHandOff(final Mode mode, final boolean plainRounds, final CompletionHandler observer) {
        this.mode = mode;
        this.plainRounds = plainRounds;
        this.observer = observer;
    }

    /**
     * A hand-off whose handlers let another one see each completion before they do their work.
     *
     * @param observer called by the thread of the handler
     * @return with handlers of single completions
     */
    public static RingpollHandOff observed(final CompletionHandler observer) {
        return new RingpollHandOff(Mode.SINGLE, false, observer);
    }

    /**
     * A hand-off with a poller that polls each queue once in each round, also in large rounds.
     *
     * @return with handlers of single completions
     */
    public static RingpollHandOff withPlainRounds() {
        return new RingpollHandOff(Mode.SINGLE, true, null);
    }

    /** How completions get to the handlers. */
    public enum Mode {
        /** One at a time, on a thread for each handler. */
        SINGLE(""),
        /** In batches, on a thread for each handler. */
        BATCHES("-in-batches"),
        /** One at a time, on the polling thread: no hand-off. */
        RUN_TO_COMPLETION("-run-to-completion");

        private final String suffix;

        Mode(final String suffix) {
            this.suffix = suffix;
        }

        /**
         * The end of a result's name.
         *
         * @return empty for {@link #SINGLE}
         */
        public String suffix() {
            return suffix;
        }
    }

    @Override
    public String label() {
        return plainRounds ? PLAIN_ROUNDS_NAME : NAME;
    }

    @Override
    public boolean hasRing() {
        return mode != Mode.RUN_TO_COMPLETION;
    }

    @Override
    public Running start(final Job job) {
        final List<Work> works = new ArrayList<>();
        final PipelineBuilder builder = Pipeline.builder().ringSize(job.ringSize()).batchLimit(job.batch())
            .queue(job.queue()).name("bench").pollerName("bench-poller");
        if (plainRounds) {
            builder.plainRounds();
        }
        job.emptyQueues().queues().forEach(builder::queue);
        if (job.cpus().poller() != HotCpus.ANY) {
            builder.pollerCpu(job.cpus().poller());
        }
        if (mode == Mode.RUN_TO_COMPLETION) {
            builder.runToCompletion();
        }
        int index = 0;
        for (final Set<CompletionPath> paths : job.paths()) {
            final Work work = Work.of(job);
            final int cpu = job.cpus().handler(index);
            final String name = "bench-handler-" + index;
            works.add(work);
            final Consumer<HandlerOptions> options = given -> {
                given.name(name);
                if (mode != Mode.RUN_TO_COMPLETION) {
                    given.waitStrategy(job.waitStrategy());
                }
                if (mode != Mode.RUN_TO_COMPLETION && cpu != HotCpus.ANY) {
                    given.cpu(cpu);
                }
            };
            if (mode == Mode.BATCHES) {
                builder.onBatch(paths, batchHandler(index, work), options);
            } else {
                builder.on(paths, observer == null ? handler(index, work) : new ObservedHandler(observer, work), options);
            }
            index++;
        }
        builder.idleStrategy(IdleStrategies.ofPoller(job.waitStrategy()));
        return new RunningPipeline(builder.start(), works);
    }

    /** Handlers of different paths are separate classes, as they are in a user's program. */
    private static CompletionHandler handler(final int index, final Work work) {
        return switch (index) {
            case 0 -> new FirstHandler(work);
            case 1 -> new SecondHandler(work);
            default -> new ThirdHandler(work);
        };
    }

    private static BatchHandler batchHandler(final int index, final Work work) {
        return switch (index) {
            case 0 -> batch -> work.onBatch(batch);
            case 1 -> batch -> work.onBatch(batch);
            default -> batch -> work.onBatch(batch);
        };
    }

    /** The handler of all paths or of the first path. */
    private record FirstHandler(Work work) implements CompletionHandler {
        @Override
        public void onBatchStart(final long available) {
            work.onBatchStart();
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            work.onCompletion(completion.workRequestId());
        }
    }

    /** The second handler. */
    private record SecondHandler(Work work) implements CompletionHandler {
        @Override
        public void onBatchStart(final long available) {
            work.onBatchStart();
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            work.onCompletion(completion.workRequestId());
        }
    }

    /** The third handler. */
    private record ThirdHandler(Work work) implements CompletionHandler {
        @Override
        public void onBatchStart(final long available) {
            work.onBatchStart();
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
            work.onCompletion(completion.workRequestId());
        }
    }

    /** The handler of any path after its observer. */
    private record ObservedHandler(CompletionHandler observer, Work work) implements CompletionHandler {
        @Override
        public void onBatchStart(final long available) {
            work.onBatchStart();
        }

        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch)
            throws Exception {
            observer.onCompletion(completion, sequence, endOfBatch);
            work.onCompletion(completion.workRequestId());
        }
    }

    /** A running pipeline. */
    private record RunningPipeline(Pipeline pipeline, List<Work> works) implements Running {
        @Override
        public long polled() {
            return pipeline.pollerCounters().completions();
        }

        @Override
        public long handled() {
            final long occupancy = pipeline.occupancy();
            return pipeline.pollerCounters().completions() - occupancy;
        }

        @Override
        public Outcome stop() {
            final PipelineReport report = pipeline.stop(STOP_NS);
            long handled = 0;
            long sum = 0;
            final Histogram latencyNs = new Histogram(3);
            for (final Work work : works) {
                handled += work.completions();
                sum += work.sum();
                latencyNs.add(work.latencyNs());
            }
            final String fault = pipeline.failure() != null ? pipeline.failure().toString() :
                report.inTime() ? "" : "the pipeline did not end in time";
            return new Outcome(report.polled(), handled, sum, latencyNs, fault);
        }
    }
}
