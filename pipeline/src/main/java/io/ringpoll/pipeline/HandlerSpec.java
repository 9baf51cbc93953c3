package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.verbs.CompletionPath;
import java.util.List;
import java.util.Set;

/**
 * All that the builder has settled about one handler.
 *
 * @param roleName      of its thread
 * @param paths         whose completions it takes
 * @param handler       the user's code
 * @param after         positions of the handlers that pass a slot before it, among those described
 * @param waitStrategy  by which it waits
 * @param signalled     whether the wait strategy needs a signal when there may be something
 * @param failurePolicy for what it throws
 * @param cpu           that its thread is pinned to, or {@link ThreadPlacement#ANY_CPU}
 * @param batchLimit    slots that it passes at most before the poller gets them back
 * @param maxHeld       slots that it may hold back
 */
record HandlerSpec(
    String roleName,
    Set<CompletionPath> paths,
    CompletionHandler handler,
    List<Integer> after,
    WaitStrategy waitStrategy,
    boolean signalled,
    FailurePolicy failurePolicy,
    int cpu,
    int batchLimit,
    int maxHeld) {
}
