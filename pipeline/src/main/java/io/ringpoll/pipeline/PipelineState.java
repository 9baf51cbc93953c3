package io.ringpoll.pipeline;

/**
 * The states of a pipeline, their transitions, and the effect of each call in each state.
 *
 * <pre>
 *   STARTING ------&gt; RUNNING ------&gt; STOPPING ------&gt; CLOSED
 *     |  |              |              ^  ^
 *     |  +--&gt; HALTED &lt;--+              |  |
 *     |          |      a handler or   |  |
 *     |          |      the poller     |  |
 *     |          +-----------fails-----+  |
 *     +-----------------------------------+
 *               the start fails
 * </pre>
 *
 * <table>
 *   <caption>Calls by state</caption>
 *   <tr><th>Call</th><th>STARTING</th><th>RUNNING</th><th>HALTED</th><th>STOPPING</th><th>CLOSED</th></tr>
 *   <tr><td>{@link Pipeline#addQueue}</td><td>added</td><td>added</td><td>refused</td><td>refused</td><td>refused</td></tr>
 *   <tr><td>{@link Pipeline#removeQueue(io.ringpoll.completion.CompletionQueue)}</td><td>removed</td><td>removed</td>
 *     <td>removed</td><td>removed</td><td>removed</td></tr>
 *   <tr><td>{@link Pipeline#removeQueue(io.ringpoll.completion.CompletionQueue, long)}</td><td>removed, waits</td>
 *     <td>removed, waits</td><td>removed, false unless handled</td><td>removed, waits</td><td>removed, true if handled</td></tr>
 *   <tr><td>{@link Pipeline#reportQueueFault}</td><td>published</td><td>published</td><td>no effect</td><td>no effect</td>
 *     <td>no effect</td></tr>
 *   <tr><td>{@link Pipeline#execute}</td><td>executed</td><td>executed</td><td>executed</td>
 *     <td>executed until the poller stops, then refused</td><td>refused</td></tr>
 *   <tr><td>{@link Pipeline#pause}</td><td>pauses</td><td>pauses</td><td>true</td><td>pauses</td><td>true</td></tr>
 *   <tr><td>{@link Pipeline#resume}</td><td>resumes</td><td>resumes</td><td>false</td><td>false</td><td>false</td></tr>
 *   <tr><td>{@link Pipeline#drain}</td><td>waits</td><td>waits</td><td>not in time, immediately</td>
 *     <td>waits for the handlers</td><td>the final report</td></tr>
 *   <tr><td>{@link Pipeline#stop}, {@link Pipeline#close(long)}</td><td>closes after the start</td><td>closes</td><td>closes</td>
 *     <td>waits for the other call</td><td>the final report</td></tr>
 *   <tr><td>counters, errors, threads, failure</td><td>live</td><td>live</td><td>live</td><td>live</td><td>last values</td></tr>
 * </table>
 *
 * <p>"Refused" is an {@link IllegalStateException}, for a task a {@link java.util.concurrent.RejectedExecutionException}. Every
 * wait ends with its time-out; an interrupt does not end it, and the interrupt flag is restored. A paused pipeline is RUNNING:
 * pausing concerns only its poller, see {@link Pipeline#pause}.
 */
public enum PipelineState {
    /** The threads are starting; {@link PipelineBuilder#start()} has not returned. */
    STARTING,
    /** Completions are polled and handled, or the pipeline is paused. */
    RUNNING,
    /** A handler or the poller has failed: polling has stopped, and the other handlers finish the published completions. */
    HALTED,
    /** The pipeline is closing: it drains, its threads end, and the completions left in the queues are polled. */
    STOPPING,
    /** The final report has been made. Threads that did not end in time end when their call returns. */
    CLOSED;

    /** Whether the transition to another state is permitted. */
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
