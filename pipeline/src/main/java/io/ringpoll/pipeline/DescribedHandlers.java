package io.ringpoll.pipeline;

import io.ringpoll.completion.CompletionPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/**
 * The handlers of a description, in order, each with its paths, its options and a name that no other handler has by default.
 *
 * <p>Belongs to the thread of its {@link PipelineBuilder}.
 */
final class DescribedHandlers {
    private final List<HandlerConfig> handlers = new ArrayList<>();

    /** The handlers so far, as described. */
    List<HandlerConfig> list() {
        return handlers;
    }

    /** Adds a handler of the first stage: a {@link BatchHandler} for batches, a {@link CompletionHandler} otherwise. */
    void add(
        final String pipelineName, final Set<CompletionPath> paths, final HandlerLifecycle handler, final boolean inBatches,
        final Consumer<HandlerOptions> options) {
        add(pipelineName, paths, handler, inBatches, options, null);
    }

    /**
     * Adds a handler for the paths of the last one, which it follows.
     *
     * @throws IllegalStateException if there is no handler before it
     */
    void addStage(
        final String method, final String pipelineName, final HandlerLifecycle handler, final boolean inBatches,
        final Consumer<HandlerOptions> options) {
        if (handlers.isEmpty()) {
            throw new IllegalStateException(method + "() follows a handler, but no handler has been added");
        }
        add(pipelineName, handlers.getLast().paths(), handler, inBatches, options, handlers.getLast().roleName());
    }

    private void add(
        final String pipelineName, final Set<CompletionPath> paths, final HandlerLifecycle handler, final boolean inBatches,
        final Consumer<HandlerOptions> options, final String predecessor) {
        Objects.requireNonNull(paths, "the handler's paths are null");
        Objects.requireNonNull(options, "the handler's options are null: leave them out for the defaults");
        final HandlerOptions given = new HandlerOptions();
        options.accept(given);
        final Set<CompletionPath> copied = HandlerPaths.copyOf(paths);
        final String defaultName = unusedName(pipelineName + "-" + HandlerPaths.label(copied));
        handlers.add(given.configure(copied, handler, inBatches, predecessor, defaultName));
    }

    private String unusedName(final String wanted) {
        final Set<String> used = handlers.stream().map(HandlerConfig::roleName).collect(Collectors.toSet());
        String candidate = wanted;
        for (int i = 2; used.contains(candidate); i++) {
            candidate = wanted + '-' + i;
        }
        return candidate;
    }
}
