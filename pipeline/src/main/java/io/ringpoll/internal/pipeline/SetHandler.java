package io.ringpoll.internal.pipeline;

import io.ringpoll.completion.CompletionQueue;
import org.agrona.concurrent.status.CountersManager;

/**
 * The handler of a set of connections: the only one of its pipeline, run to completion, for completions of its connections. It
 * has counters of its own among those of the pipeline.
 */
public interface SetHandler {
    /**
     * Name of the set, for messages.
     *
     * @return constant
     */
    String setName();

    /**
     * Whether a queue that is to be added is that of a connection of the set; any thread.
     *
     * @param queue      to be added
     * @param attachment of its completions, or null
     * @return false for all others, whose completions the handler cannot handle
     */
    boolean owns(CompletionQueue queue, Object attachment);

    /**
     * Called once, by the thread that starts the pipeline, before the handler starts.
     *
     * @param counters allocates them; the pipeline frees them after the end of its polling thread, which alone may write them
     */
    void onCounters(CountersManager counters);
}
