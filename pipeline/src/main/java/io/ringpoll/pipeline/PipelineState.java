package io.ringpoll.pipeline;

/**
 * The states of a pipeline, their transitions, and what each call does in each state.
 *
 * <pre>
 *   STARTING ------&gt; RUNNING ------&gt; STOPPING ------&gt; CLOSED
 *     |  |              |              ^  ^
 *     |  +--&gt; HALTED &lt;--+              |  |
 *     |          |      a handler or   |  |
 *     |          |      the poller     |  |
 *     |          +-----------dies------+  |
 *     +-----------------------------------+
 *               the start fails
 * </pre>
 *
 * <table>
 *   <caption>Calls by state</caption>
 *   <tr><th>Call</th><th>STARTING</th><th>RUNNING</th><th>HALTED</th><th>STOPPING</th><th>CLOSED</th></tr>
 *   <tr><td>{@link Pipeline#addQueue}</td><td>added</td><td>added</td><td>refused</td><td>refused</td><td>refused</td></tr>
 *   <tr><td>{@link Pipeline#removeQueue}</td><td>removed</td><td>removed</td><td>removed</td><td>removed</td>
 *     <td>removed</td></tr>
 *   <tr><td>{@link Pipeline#reportQueueFault}</td><td>published</td><td>published</td><td>no effect</td><td>no effect</td>
 *     <td>no effect</td></tr>
 *   <tr><td>{@link Pipeline#pause}</td><td>pauses</td><td>pauses</td><td>true</td><td>pauses</td><td>true</td></tr>
 *   <tr><td>{@link Pipeline#resume}</td><td>resumes</td><td>resumes</td><td>false</td><td>false</td><td>false</td></tr>
 *   <tr><td>{@link Pipeline#drain}</td><td>waits</td><td>waits</td><td>not in time, at once</td>
 *     <td>waits for what was polled</td><td>the final report</td></tr>
 *   <tr><td>{@link Pipeline#stop}, {@link Pipeline#close(long)}</td><td>closes after the start</td><td>closes</td><td>closes</td>
 *     <td>waits for the other call</td><td>the final report</td></tr>
 *   <tr><td>counters, errors, threads, failure</td><td>live</td><td>live</td><td>live</td><td>live</td><td>last values</td></tr>
 * </table>
 *
 * <p>"Refused" is an {@link IllegalStateException}. Every wait ends with its time-out, and none by an interrupt, which is kept
 * for the caller. While a pipeline is paused it is RUNNING: pausing is a matter of its poller,
 * {@link io.ringpoll.poller.CompletionPoller#pause}.
 */
public enum PipelineState {
    /** The threads are being started; {@link PipelineBuilder#start()} has not returned. */
    STARTING,
    /** Completions are polled and handled, or wait while the pipeline is paused. */
    RUNNING,
    /** A handler or the poller has died: nothing is polled any more, and the other handlers handle what was published. */
    HALTED,
    /** The pipeline is being closed: it is drained, its threads end, and what is left in the queues is taken out. */
    STOPPING,
    /** The final report has been made. Threads that did not end in time end as soon as they can. */
    CLOSED;

    /** Whether a pipeline may go from this state to another. */
    boolean leadsTo(final PipelineState next) {
        return switch (this) {
            case STARTING -> next == RUNNING || next == HALTED || next == STOPPING;
            case RUNNING -> next == HALTED || next == STOPPING;
            case HALTED -> next == STOPPING;
            case STOPPING -> next == CLOSED;
            case CLOSED -> false;
        };
    }

    /** Whether completion queues can be added. */
    boolean takesQueues() {
        return this == STARTING || this == RUNNING;
    }
}
