package io.ringpoll.verify.torture;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import java.util.List;
import java.util.Queue;

/**
 * A handler under torture: records the end of each work request, and is sometimes slow or throws.
 *
 * <p>Used by its handler thread. Without a path it observes: it counts completions of all paths.
 */
final class PathRecorder implements CompletionHandler {
    private static final int SLOW_SPINS = 4_000;

    private final CompletionPath path;
    private final Scene scene;
    private final List<EndpointState> endpoints;
    private final Queue<String> failedQueues;
    private final Queue<String> violations;
    private int handled;

    /**
     * Creates a handler.
     *
     * @param path         its path, or null to observe all
     * @param scene        determines its delays
     * @param endpoints    endpoints of the recorded work requests
     * @param failedQueues receives the names of queues with a failed poll
     * @param violations   receives violations
     */
    PathRecorder(
        final CompletionPath path, final Scene scene, final List<EndpointState> endpoints, final Queue<String> failedQueues,
        final Queue<String> violations) {
        this.path = path;
        this.scene = scene;
        this.endpoints = endpoints;
        this.failedQueues = failedQueues;
        this.violations = violations;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final long id = completion.workRequestId();
        final int number = EndpointState.endpointOf(id, scene.seed());
        final int index = EndpointState.indexOf(id);
        if (number < 0 || number >= endpoints.size() || index < 0 || index >= ends(id, number).size()) {
            violations.add("a completion of nobody's work request, " + Long.toHexString(id) + ", on " + path);
            return;
        }
        if (path == null) {
            ends(id, number).observe(index);
        } else {
            ends(id, number).record(index, path, completion, sequence);
        }
        handled++;
        final Topology topology = scene.topology();
        if (topology.slowHandlers() > 0 && handled % topology.slowHandlers() == 0) {
            for (int i = 0; i < SLOW_SPINS; i++) {
                Thread.onSpinWait();
            }
        }
        if (topology.throwingHandlers() > 0 && handled % topology.throwingHandlers() == 0) {
            throw new HandlerIsTired();
        }
    }

    /** Whether an exception is one that the scene has planned. */
    static boolean isPlanned(final Throwable thrown) {
        return thrown instanceof HandlerIsTired;
    }

    private Ends ends(final long id, final int number) {
        return EndpointState.isReceive(id) ? endpoints.get(number).receives() : endpoints.get(number).sends();
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        if (path == CompletionPath.ERROR) {
            failedQueues.add(queueName);
        }
    }

    /** The exception of a handler, as planned by the scene: the pipeline continues with the next completion. */
    private static final class HandlerIsTired extends RuntimeException {
        private static final long serialVersionUID = 1L;

        HandlerIsTired() {
            super("planned by the scene", null, false, false);
        }
    }
}
