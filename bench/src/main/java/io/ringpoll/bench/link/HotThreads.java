package io.ringpoll.bench.link;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.IdleStrategies;
import io.ringpoll.completion.CompletionQueue;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.FailurePolicy;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.WaitMode;
import java.util.List;

/**
 * The hot threads of a contestant: the same for all.
 *
 * @param handlers     number of handlers that share the paths
 * @param ringSize     slots of the ring
 * @param batch        maximum completions per poll
 * @param waitStrategy wait strategy of all threads
 * @param cpus         CPUs of the threads
 * @param poster       CPU of the thread that posts paced operations, or {@link HotCpus#ANY}
 */
public record HotThreads(int handlers, int ringSize, int batch, WaitMode waitStrategy, HotCpus cpus, int poster) {
    /**
     * A pipeline that polls queues and hands off to one handler. An exception of the handler halts it.
     *
     * @param handler of all paths
     * @param queues  to be polled
     * @return to be started
     */
    public PipelineBuilder pipeline(final CompletionHandler handler, final List<CompletionQueue> queues) {
        return poller("bench", cpus.poller(), queues).ringSize(ringSize).onAll(handler, options -> {
            options.waitStrategy(waitStrategy).name("bench-handler").failurePolicy(FailurePolicy.HALT);
            if (cpus.handler(0) != HotCpus.ANY) {
                options.cpu(cpus.handler(0));
            }
        });
    }

    /**
     * A pipeline whose poller runs the handler. An exception of the handler halts it.
     *
     * @param name    of the pipeline
     * @param cpu     CPU of the poller, or {@link HotCpus#ANY}
     * @param handler of all paths
     * @param queues  to be polled
     * @return to be started
     */
    public PipelineBuilder runToCompletion(
        final String name, final int cpu, final CompletionHandler handler,
        final List<CompletionQueue> queues) {
        return poller(name, cpu, queues).runToCompletion().onAll(handler, options -> options.failurePolicy(FailurePolicy.HALT));
    }

    /**
     * Requires that no part of a pipeline has failed.
     *
     * @param pipeline polls the queues of this end
     * @throws IllegalStateException with the failure
     */
    public static void requireSound(final Pipeline pipeline) {
        final Throwable failure = pipeline.failure();
        if (failure != null) {
            throw new IllegalStateException("the pipeline of this end has failed: " + failure, failure);
        }
    }

    private PipelineBuilder poller(final String name, final int cpu, final List<CompletionQueue> queues) {
        final PipelineBuilder builder =
            Pipeline.builder().name(name).batchLimit(batch).idleStrategy(IdleStrategies.ofPoller(waitStrategy));
        queues.forEach(builder::queue);
        if (cpu != HotCpus.ANY) {
            builder.pollerCpu(cpu);
        }
        return builder;
    }
}
