package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.verbs.CompletionPath;
import java.util.List;
import java.util.Set;

/**
 * The immutable configuration of one handler, with all defaults filled in.
 *
 * @param roleName      of its thread
 * @param paths         delivered to the handler
 * @param handler       the user's handler: a {@link BatchHandler} if {@code inBatches}, otherwise a {@link CompletionHandler}
 * @param inBatches     whether completions are delivered in batches
 * @param after         indexes of the handlers that pass a slot before this one
 * @param waitStrategy  of its thread
 * @param signalled     whether the wait strategy needs a signal at publication
 * @param failurePolicy for its exceptions
 * @param cpu           to which its thread is pinned, or {@link ThreadPlacement#ANY_CPU}
 * @param batchLimit    maximum number of slots in a batch
 * @param maxHeld       maximum number of held slots
 */
record HandlerConfig(
    String roleName,
    Set<CompletionPath> paths,
    HandlerLifecycle handler,
    boolean inBatches,
    List<Integer> after,
    WaitStrategy waitStrategy,
    boolean signalled,
    FailurePolicy failurePolicy,
    int cpu,
    int batchLimit,
    int maxHeld) {
    /** Copies the collections. */
    HandlerConfig {
        paths = Set.copyOf(paths);
        after = List.copyOf(after);
    }
}
