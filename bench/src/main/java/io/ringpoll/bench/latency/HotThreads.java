package io.ringpoll.bench.latency;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.IdleStrategies;
import io.ringpoll.pipeline.CompletionHandler;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.rpma.Connection;

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
record HotThreads(int handlers, int ringSize, int batch, WaitMode waitStrategy, HotCpus cpus, int poster) {
    /** A pipeline that polls the queues of connections and hands off to one handler; not started. */
    PipelineBuilder pipeline(final CompletionHandler handler, final Connection... ends) {
        return poller("bench", cpus.poller(), ends).ringSize(ringSize).onAll(handler, options -> {
            options.waitStrategy(waitStrategy).name("bench-handler");
            if (cpus.handler(0) != HotCpus.ANY) {
                options.cpu(cpus.handler(0));
            }
        });
    }

    /** A pipeline that polls the queues of connections, without handlers yet. */
    PipelineBuilder poller(final String name, final int cpu, final Connection... ends) {
        final PipelineBuilder builder =
            Pipeline.builder().name(name).batchLimit(batch).idleStrategy(IdleStrategies.ofPoller(waitStrategy));
        for (final Connection end : ends) {
            builder.queue(end.completionQueue());
        }
        if (cpu != HotCpus.ANY) {
            builder.pollerCpu(cpu);
        }
        return builder;
    }
}
