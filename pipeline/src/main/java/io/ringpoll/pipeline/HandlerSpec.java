package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.verbs.CompletionPath;
import java.util.Set;

/**
 * All that the builder has settled about one handler.
 *
 * @param roleName      of its thread
 * @param paths         whose completions it takes
 * @param handler       the user's code
 * @param waitStrategy  by which it waits
 * @param signalled     whether the wait strategy needs a signal at each publication
 * @param failurePolicy for what it throws
 * @param cpu           that its thread is pinned to, or {@link ThreadPlacement#ANY_CPU}
 */
record HandlerSpec(
    String roleName,
    Set<CompletionPath> paths,
    CompletionHandler handler,
    WaitStrategy waitStrategy,
    boolean signalled,
    FailurePolicy failurePolicy,
    int cpu) {
}
