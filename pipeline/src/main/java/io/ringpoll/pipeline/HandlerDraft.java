package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionPath;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * A handler as described by the user.
 *
 * @param name    given, or derived from the paths
 * @param paths   delivered to the handler
 * @param handler the user's handler
 * @param options as set by the user
 * @param before  index of the handler that precedes it by {@code then}; -1 for none
 */
record HandlerDraft(String name, Set<CompletionPath> paths, CompletionHandler handler, HandlerOptions options, int before) {
    /** Fills in the defaults. */
    HandlerSpec conclude(final List<HandlerDraft> all, final HandlerWait defaultWait, final int defaultBatchLimit) {
        final HandlerWait wait = options.wait != null ? options.wait : defaultWait;
        final boolean own = options.waitStrategy != null;
        return new HandlerSpec(
            name,
            paths,
            handler,
            dependencies(all),
            own ? options.waitStrategy : wait.newStrategy(),
            own || wait.isSignalled(),
            options.failurePolicy,
            options.cpu,
            options.batchLimit > 0 ? options.batchLimit : defaultBatchLimit,
            options.maxHeld);
    }

    private List<Integer> dependencies(final List<HandlerDraft> all) {
        final List<Integer> positions = new ArrayList<>();
        if (before >= 0) {
            positions.add(before);
        }
        for (int i = 0; i < all.size(); i++) {
            if (options.after.contains(all.get(i).name) && !positions.contains(i)) {
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
        return paths.isEmpty() ? Set.of() : EnumSet.copyOf(paths);
    }
}
