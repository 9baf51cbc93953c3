package io.ringpoll.internal.pipeline;

import org.agrona.concurrent.status.CountersManager;

/**
 * A handler of a layer above the pipeline, run to completion, with counters of its own among those of its pipeline.
 */
public interface CountedHandler {
    /**
     * Called once, by the thread that starts the pipeline, before the handler starts.
     *
     * @param counters allocates them; the pipeline frees them after the end of its polling thread, which alone may write them
     */
    void onCounters(CountersManager counters);
}
