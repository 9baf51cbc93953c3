package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.completion.CompletionPath;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.testing.NullArguments;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import org.agrona.ErrorHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.status.CountersManager;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Every public method of the pipeline names an argument that is null, in its own class; a builder may do so when it starts. */
@Timeout(60)
class NullArgumentsTest {
    private final Recorder all = new Recorder();

    @Test
    void shouldNameNullArguments() {
        final Consumer<Object> nothing = ignored -> { };
        final BatchHandler batches = batch -> { };
        final Runnable task = () -> { };
        final ThreadFactory threads = Thread::new;
        final ErrorHandler errors = failure -> { };
        final CountersManager counters = new CountersManager(
            new UnsafeBuffer(ByteBuffer.allocateDirect(512)), new UnsafeBuffer(ByteBuffer.allocateDirect(128)));
        final IntFunction<PipelineBuilder> description = position -> Pipeline.builder().onAll(all);
        final ToIntFunction<CompletionQueue> position = queue -> 0;
        try (Pipeline pipeline = Pipeline.builder().name("nulls").onAll(all).start();
            PipelineGroup group = PipelineGroup.start(1, number -> Pipeline.builder().name("group").onAll(all))) {
            assertEquals("", new NullArguments()
                .sample(pipeline).sample(group).sample(Pipeline.builder().onAll(all)).sample(new HandlerOptions())
                .sample(new CompletionBatch(0, 63, 4)).sample(new ScriptedQueue("queue"), CompletionQueue.class)
                .sample(all, CompletionHandler.class).sample(batches, BatchHandler.class).sample(nothing, Consumer.class)
                .sample(task, Runnable.class).sample(threads, ThreadFactory.class).sample(errors, ErrorHandler.class)
                .sample(counters, CountersManager.class)
                .sample(description, IntFunction.class).sample(position, ToIntFunction.class)
                .sample(Set.of(CompletionPath.ERROR), Set.class)
                .meaningful(
                    // Named by start(), with all other faults of the description.
                    "PipelineBuilder.name(pipelineName)", "PipelineBuilder.pin(how)", "PipelineBuilder.queue(queue)",
                    "PipelineBuilder.onFailure(listener)", "PipelineBuilder.onUndelivered(consumer)",
                    "PipelineBuilder.onSendWrite(handler)", "PipelineBuilder.onReceive(handler)",
                    "PipelineBuilder.onError(handler)", "PipelineBuilder.onAll(handler)", "PipelineBuilder.on(handler)",
                    "PipelineBuilder.onSendWriteBatch(handler)", "PipelineBuilder.onReceiveBatch(handler)",
                    "PipelineBuilder.onErrorBatch(handler)", "PipelineBuilder.onAllBatch(handler)",
                    "PipelineBuilder.onBatch(handler)", "PipelineBuilder.thenBatch(handler)",
                    "PipelineBuilder.then(handler)", "HandlerOptions.failurePolicy(policy)",
                    // No attachment.
                    "Pipeline.addQueue(attachment)", "PipelineGroup.addQueue(attachment)", "PipelineGroup.addQueue(position)",
                    "PipelineBuilder.queue(attachment)",
                    // The default.
                    "PipelineBuilder.pollerName(threadName)", "PipelineBuilder.idleStrategy(strategy)",
                    "HandlerOptions.name(name)", "HandlerOptions.waitStrategy(wait)", "HandlerOptions.waitStrategy(strategy)")
                .check(Pipeline.class).faults());
        }
    }
}
