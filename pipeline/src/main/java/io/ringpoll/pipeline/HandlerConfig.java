package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.completion.CompletionPath;
import java.util.List;
import java.util.Set;

/**
 * The immutable configuration of one handler: its {@link HandlerOptions} as set when it was added; {@link #conclude} fills in the
 * defaults.
 *
 * @param roleName      of its thread
 * @param paths         delivered to the handler
 * @param handler       the user's handler: a {@link BatchHandler} if {@code inBatches}, otherwise a {@link CompletionHandler}
 * @param inBatches     whether completions are delivered in batches
 * @param after         names of the handlers that pass a slot before this one
 * @param waitMode      a predefined wait; null for the default, or if the wait strategy is the user's
 * @param waitStrategy  of its thread; null before the conclusion unless it is the user's
 * @param failurePolicy for its exceptions
 * @param cpu           to which its thread is pinned, or {@link Pinning#ANY_CPU}
 * @param maxBatch      maximum number of slots in a batch; 0 for the default
 * @param maxHeld       maximum number of held slots
 * @param idleTimeoutNs time without slots until the handler's {@code onIdle} is called, in nanoseconds; 0 for no calls
 */
record HandlerConfig(
    String roleName,
    Set<CompletionPath> paths,
    HandlerLifecycle handler,
    boolean inBatches,
    List<String> after,
    WaitMode waitMode,
    WaitStrategy waitStrategy,
    FailurePolicy failurePolicy,
    int cpu,
    int maxBatch,
    int maxHeld,
    long idleTimeoutNs) {
    /** Copies the collections. */
    HandlerConfig {
        paths = HandlerPaths.copyOf(paths);
        after = List.copyOf(after);
    }

    /** The configuration on an assigned CPU; a wait of the user has precedence over the assigned one. */
    HandlerConfig pinned(final Pinning.Assignment assignment) {
        final WaitMode wait = waitMode == null && waitStrategy == null ? assignment.waitMode() : waitMode;
        return new HandlerConfig(roleName, paths, handler, inBatches, after, wait, waitStrategy, failurePolicy, assignment.cpu(),
            maxBatch, maxHeld, idleTimeoutNs);
    }

    /** The configuration with the defaults filled in. */
    HandlerConfig conclude(final WaitMode defaultWait, final int defaultMaxBatch) {
        final boolean ofUser = waitStrategy != null;
        final WaitMode wait = waitMode != null ? waitMode : defaultWait;
        return new HandlerConfig(roleName, paths, handler, inBatches, after, ofUser ? null : wait,
            ofUser ? waitStrategy : wait.newWaitStrategy(idleTimeoutNs), failurePolicy, cpu,
            maxBatch > 0 ? maxBatch : defaultMaxBatch, maxHeld, idleTimeoutNs);
    }

    /** Whether the concluded wait strategy checks the time-out of the handler often, so that not each check reads the clock. */
    boolean spins() {
        return waitMode == WaitMode.BUSY_SPIN || waitMode == WaitMode.YIELD;
    }

    /** Whether the concluded wait strategy needs a signal at publication; a user's strategy gets one always. */
    boolean isSignalled() {
        return waitMode == null || waitMode.isSignalled();
    }
}
