package io.ringpoll.pipeline;

import java.util.List;

/**
 * The values of the options of a pipeline: as set, even if they are wrong, or derived from the rest of the description.
 *
 * <p>Belongs to the thread of its {@link PipelineBuilder}.
 */
final class PipelineDefaults {
    private static final int BATCH_LIMIT = 32;
    private static final int RUN_TO_COMPLETION_BATCHES = 4;

    private final PipelineBuilder description;

    PipelineDefaults(final PipelineBuilder description) {
        this.description = description;
    }

    /** The wait of handlers, derived from the number of cores and of threads. */
    WaitMode waitMode() {
        final int handlerThreads = description.runsToCompletion ? 0 : description.handlers.list().size();
        return WaitMode.forCores(description.cores, 1 + handlerThreads + description.otherHotThreads);
    }

    /** The batch limit: as set, or the default limited by the ring size. */
    int batchLimit() {
        return description.batchLimitGiven ? description.batchLimit : Math.min(BATCH_LIMIT, Math.max(1, description.ringSize));
    }

    /** The number of slots: as set, or a few batches if the handlers run to completion. */
    int ringSize() {
        if (!description.runsToCompletion) {
            return description.ringSize;
        }
        // A batch ends at the end of the slab; with room for several batches, few are cut short.
        return Math.min(description.ringSize, RUN_TO_COMPLETION_BATCHES * Integer.highestOneBit(2 * batchLimit() - 1));
    }

    /** The polling thread's name. */
    String pollerName() {
        return description.pollerName != null ? description.pollerName : description.name + "-poller";
    }

    /** The handlers on their CPUs, with all defaults filled in. */
    List<HandlerConfig> handlers(final List<HandlerConfig> pinned) {
        final WaitMode defaultWait = waitMode();
        final int defaultMaxBatch = description.runsToCompletion ? batchLimit() : Math.max(1, description.ringSize / 4);
        return pinned.stream().map(handler -> handler.conclude(defaultWait, defaultMaxBatch)).toList();
    }
}
