package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionPath;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * A handler as the user has described it.
 *
 * @param name    given, or made from the paths
 * @param paths   whose completions it takes
 * @param handler the user's code
 * @param options as filled in
 * @param before  position of the handler it was chained to by {@code then}; -1 for none
 */
record HandlerDraft(String name, Set<CompletionPath> paths, CompletionHandler handler, HandlerOptions options, int before) {
    /** Settles what the user left open. */
    HandlerSpec settle(final List<HandlerDraft> all, final HandlerWait defaultWait, final int defaultBatchLimit) {
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
