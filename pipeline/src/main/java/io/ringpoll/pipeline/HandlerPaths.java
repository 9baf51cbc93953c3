package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionPath;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** Copies and names the paths of a handler. */
final class HandlerPaths {
    private HandlerPaths() {
    }

    /** An unmodifiable copy, in the order of the paths. */
    static Set<CompletionPath> copyOf(final Set<CompletionPath> paths) {
        for (final CompletionPath path : paths) {
            Objects.requireNonNull(path, "a path among the handler's paths is null");
        }
        return paths.isEmpty() ? Set.of() : Collections.unmodifiableSet(EnumSet.copyOf(paths));
    }

    /** The paths that each handler counts: a path's first handler, or the first of all if the path is discarded. */
    static List<Set<CompletionPath>> counted(final List<Set<CompletionPath>> handlers) {
        final List<Set<CompletionPath>> counted = new ArrayList<>();
        final Set<CompletionPath> left = EnumSet.allOf(CompletionPath.class);
        for (final Set<CompletionPath> paths : handlers) {
            final Set<CompletionPath> own = EnumSet.noneOf(CompletionPath.class);
            own.addAll(paths);
            own.retainAll(left);
            left.removeAll(own);
            counted.add(own);
        }
        counted.getFirst().addAll(left);
        return counted;
    }

    /** A name for a copy of some paths, for instance {@code send-write+receive}. */
    static String label(final Set<CompletionPath> paths) {
        return paths.size() == CompletionPath.values().length ? "all" :
            paths.stream().map(HandlerPaths::label).collect(Collectors.joining("+"));
    }

    static String label(final CompletionPath path) {
        return path.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
