package io.ringpoll.pipeline;

import com.lmax.disruptor.WaitStrategy;
import io.ringpoll.verbs.CompletionPath;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * The immutable description of one handler: its options when it was added, before they are checked and the defaults filled in.
 *
 * @param roleName      of its thread
 * @param paths         delivered to the handler
 * @param handler       the user's handler: a {@link BatchHandler} if {@code inBatches}, otherwise a {@link CompletionHandler}
 * @param inBatches     whether completions are delivered in batches
 * @param predecessor   index of the handler that precedes it by {@link PipelineBuilder#then}, or {@link #NONE}
 * @param after         names of further handlers that precede it
 * @param waitMode      a predefined wait, or null
 * @param waitStrategy  a user's wait strategy, or null
 * @param failurePolicy for its exceptions
 * @param cpu           to which its thread is pinned, or {@link ThreadPlacement#ANY_CPU}
 * @param batchLimit    maximum number of slots in a batch; 0 for the default
 * @param maxHeld       maximum number of held slots
 */
record HandlerDescription(
    String roleName,
    Set<CompletionPath> paths,
    HandlerLifecycle handler,
    boolean inBatches,
    int predecessor,
    List<String> after,
    WaitMode waitMode,
    WaitStrategy waitStrategy,
    FailurePolicy failurePolicy,
    int cpu,
    int batchLimit,
    int maxHeld) {
    static final int NONE = -1;

    /** The description of a handler at a place; a wait of the user has precedence over that of the place. */
    HandlerDescription placedAt(final Pinning.Place place) {
        final WaitMode placedWait = waitMode == null && waitStrategy == null ? place.waitStrategy() : waitMode;
        return new HandlerDescription(
            roleName, paths, handler, inBatches, predecessor, after, placedWait, waitStrategy, failurePolicy, place.cpu(),
            batchLimit, maxHeld);
    }

    /** The immutable configuration of the handler, with the defaults filled in. */
    HandlerConfig conclude(final List<HandlerDescription> all, final WaitMode defaultWait, final int defaultBatchLimit) {
        final WaitMode effectiveWait = waitMode != null ? waitMode : defaultWait;
        final boolean own = waitStrategy != null;
        return new HandlerConfig(
            roleName,
            paths,
            handler,
            inBatches,
            predecessors(all),
            own ? waitStrategy : effectiveWait.newWaitStrategy(),
            own || effectiveWait.isSignalled(),
            failurePolicy,
            cpu,
            batchLimit > 0 ? batchLimit : defaultBatchLimit,
            maxHeld);
    }

    private List<Integer> predecessors(final List<HandlerDescription> all) {
        final List<Integer> positions = new ArrayList<>();
        if (predecessor != NONE) {
            positions.add(predecessor);
        }
        for (int i = 0; i < all.size(); i++) {
            if (after.contains(all.get(i).roleName()) && !positions.contains(i)) {
                positions.add(i);
            }
        }
        return positions;
    }

    /** A name for a handler of some paths, for instance {@code send-write+receive}. */
    static String label(final Set<CompletionPath> paths) {
        if (paths.size() == CompletionPath.values().length) {
            return "all";
        }
        final List<String> labels = new ArrayList<>();
        for (final CompletionPath path : paths) {
            labels.add(label(path));
        }
        return String.join("+", labels);
    }

    static String label(final CompletionPath path) {
        return path.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    static Set<CompletionPath> copyOf(final Set<CompletionPath> paths) {
        for (final CompletionPath path : paths) {
            Objects.requireNonNull(path, "a path among the handler's paths is null");
        }
        return paths.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(paths));
    }
}
