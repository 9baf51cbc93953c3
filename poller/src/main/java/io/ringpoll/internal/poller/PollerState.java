package io.ringpoll.internal.poller;

/**
 * The states of a poller, their transitions, and the effect of each call in each state.
 *
 * <pre>
 *             onStart              pause
 *    NEW ---------------&gt; RUNNING --------&gt; PAUSED
 *     |                     | |   &lt;--------   |
 *     |         a handler   | |     resume    |
 *     |         halts       v |               |
 *     |             HALTED &lt;--+---------------+
 *     |                |      |               |
 *     | stop           v      v stop          |
 *     +------------&gt; STOPPING &lt;---------------+
 *     |                |
 *     | onClose        v onClose
 *     +-------------&gt; ENDED
 * </pre>
 *
 * <table>
 *   <caption>Calls by state</caption>
 *   <tr><th>Call</th><th>NEW</th><th>RUNNING</th><th>PAUSED</th><th>HALTED</th><th>STOPPING</th><th>ENDED</th></tr>
 *   <tr><td>{@link QueueRegistry#add}</td><td>immediately</td><td>next duty cycle</td><td>polled after {@code resume}</td>
 *     <td>refused</td><td>refused</td><td>refused</td></tr>
 *   <tr><td>{@link QueueRegistry#remove}</td><td>immediately</td><td>between duty cycles</td><td>between duty cycles</td>
 *     <td>between duty cycles</td><td>between duty cycles</td><td>immediately</td></tr>
 *   <tr><td>{@link QueueRegistry#reportFault}</td><td>published first</td><td>next duty cycle</td>
 *     <td>published after {@code resume}</td><td>not published</td><td>not published</td><td>not published</td></tr>
 *   <tr><td>{@link QueueRegistry#remaining}</td><td>all</td><td>refused</td><td>refused</td><td>refused</td><td>refused</td>
 *     <td>those left</td></tr>
 *   <tr><td>{@link CompletionPoller#pause}</td><td>starts paused</td><td>between duty cycles</td><td>no effect</td>
 *     <td>between duty cycles</td><td>between duty cycles</td><td>no effect</td></tr>
 *   <tr><td>{@link CompletionPoller#resume}</td><td>undoes a pause</td><td>no effect</td><td>between duty cycles</td>
 *     <td>fails</td><td>fails</td><td>fails</td></tr>
 *   <tr><td>{@link CompletionPoller#awaitEmptyRound}</td><td>waits</td><td>waits</td><td>fails</td>
 *     <td>fails</td><td>fails</td><td>fails</td></tr>
 *   <tr><td>{@link CompletionPoller#execute}</td><td>after the start</td><td>between duty cycles</td>
 *     <td>between duty cycles</td><td>between duty cycles</td><td>refused</td><td>refused</td></tr>
 *   <tr><td>{@link PollerLoop#stop}</td><td>ends at its start</td><td>ends</td><td>ends</td><td>ends</td><td>no effect</td>
 *     <td>no effect</td></tr>
 * </table>
 *
 * <p>"Refused" is an {@link IllegalStateException}, for a task a {@link java.util.concurrent.RejectedExecutionException}; tasks
 * that were accepted before the end are executed at the end. "Fails" is a {@link java.util.concurrent.TimeoutException} without
 * delay; a wait in progress fails when the poller enters such a state. "Between duty cycles" is immediate for a handler on the
 * polling thread, except for a task. A poller without a {@link PollerLoop} has no {@code STOPPING}.
 */
public enum PollerState {
    /** No thread runs the poller yet; the calling threads change its queues directly. */
    NEW("has not started"),
    /** The polling thread makes duty cycles. */
    RUNNING("is running"),
    /** The polling thread executes commands only. */
    PAUSED("is paused"),
    /** A handler has halted: nothing can be published any more. The polling thread executes commands only. */
    HALTED("has halted"),
    /** The loop ends after the current duty cycle. */
    STOPPING("is stopping"),
    /** No thread runs the poller any more; the calling threads change its queues directly. */
    ENDED("has ended");

    private final String predicate;

    PollerState(final String predicate) {
        this.predicate = predicate;
    }

    /** Predicate of a message with the subject "the poller". */
    String predicate() {
        return predicate;
    }

    /**
     * Whether a poller in this state no longer publishes completions.
     *
     * @return true if it never will again
     */
    public boolean isFinal() {
        return this == HALTED || this == STOPPING || this == ENDED;
    }
}
