package io.ringpoll.pipeline;

import io.ringpoll.verbs.CompletionPath;
import java.util.Collections;
import java.util.EnumSet;
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

    /** A name for a copy of some paths, for instance {@code send-write+receive}. */
    static String label(final Set<CompletionPath> paths) {
        return paths.size() == CompletionPath.values().length ? "all" :
            paths.stream().map(HandlerPaths::label).collect(Collectors.joining("+"));
    }

    static String label(final CompletionPath path) {
        return path.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
