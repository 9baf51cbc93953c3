package io.ringpoll.verify.torture.processes;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineGroup;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** The ends of connections of a process by their place, which is a part of their work request ids; any thread. */
final class Registry implements CompletionHandler {
    private final List<End> ends = new CopyOnWriteArrayList<>();
    private final Violations violations;

    Registry(final Violations violations) {
        this.violations = violations;
    }

    Violations violations() {
        return violations;
    }

    /** Starts the pipelines of the process, whose handlers pass each completion to its end. */
    PipelineGroup start(final ProcessShape shape, final String prefix) {
        return PipelineGroup.start(shape.pollers(), number -> Pipeline.builder().name(prefix + number).withoutCountersFile()
            .ringSize(shape.ringSize()).idleStrategy(shape.idle().newIdleStrategy())
            .onAll(this, options -> options.name(prefix + "handler-" + number).waitStrategy(shape.handlerWait())));
    }

    /** Adds an end; only one thread at a time may. */
    synchronized int add(final End end) {
        ends.add(end);
        return ends.size() - 1;
    }

    @Override
    public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        final int place = End.placeOf(completion.workRequestId());
        if (place >= ends.size()) {
            violations.add("a completion of nobody's work request, " + Long.toHexString(completion.workRequestId()));
            return;
        }
        try {
            ends.get(place).onCompletion(completion);
        } catch (final RuntimeException unexpected) {
            violations.unexpected(ends.get(place) + ": a completion", unexpected);
        }
    }

    @Override
    public void onQueueFault(final int queueIndex, final String queueName, final int code) {
        violations.add("the poll of " + queueName + " failed with " + code);
    }
}
