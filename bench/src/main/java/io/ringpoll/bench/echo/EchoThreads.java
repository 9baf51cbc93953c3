package io.ringpoll.bench.echo;

import io.ringpoll.bench.handoff.HotCpus;
import io.ringpoll.bench.handoff.IdleStrategies;
import io.ringpoll.os.ThreadAffinity;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.WaitMode;
import org.agrona.concurrent.IdleStrategy;

/**
 * The two hot threads of a contestant: the same for all. They spin, unless they have to share a CPU.
 *
 * @param cpus the client's is the poller's, the server's is that of the first handler
 * @param gate closed between the turns of the contestant
 */
record EchoThreads(HotCpus cpus, Gate gate) {
    /** Waits as all contestants do, and at the gate. */
    private record GatedIdle(Gate gate, IdleStrategy strategy) implements IdleStrategy {
        @Override
        public void idle(final int workCount) {
            gate.pass();
            strategy.idle(workCount);
        }

        @Override
        public void idle() {
            gate.pass();
            strategy.idle();
        }

        @Override
        public void reset() {
            strategy.reset();
        }
    }

    int clientCpu() {
        return cpus.poller();
    }

    int serverCpu() {
        return cpus.handler(0);
    }

    /** Whether idle threads yield their CPU. */
    boolean yields() {
        return !cpus.areExclusive(1);
    }

    IdleStrategy newIdle() {
        return new GatedIdle(gate, IdleStrategies.ofPoller(yields() ? WaitMode.YIELD : WaitMode.BUSY_SPIN));
    }

    /** The name of the pipeline of one end. */
    static String name(final String contestant, final boolean isServer) {
        return "bench-" + contestant + (isServer ? "-server" : "-client");
    }

    /** A pipeline of one end, without handlers. */
    PipelineBuilder pipeline(final String contestant, final boolean isServer) {
        final PipelineBuilder builder = Pipeline.builder().name(name(contestant, isServer))
            .withoutCountersFile().idleStrategy(newIdle()).runToCompletion();
        final int cpu = isServer ? serverCpu() : clientCpu();
        return cpu == HotCpus.ANY ? builder : builder.pollerCpu(cpu);
    }

    /** The body of a thread on its CPU. */
    Runnable pinned(final boolean isServer, final Runnable body) {
        final int cpu = isServer ? serverCpu() : clientCpu();
        return () -> {
            if (cpu != HotCpus.ANY) {
                ThreadAffinity.pin(cpu);
            }
            body.run();
        };
    }
}
