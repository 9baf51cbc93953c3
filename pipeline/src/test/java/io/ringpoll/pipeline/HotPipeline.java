package io.ringpoll.pipeline;

import io.ringpoll.internal.poller.CompletionPoller;
import io.ringpoll.internal.poller.PollerLoop;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.testing.CompiledCode;
import io.ringpoll.testing.ConnectedPair;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeoutException;
import org.agrona.concurrent.NoOpIdleStrategy;

/**
 * A spinning pipeline with a handler that posts again at each completion, until C2 has compiled the poller; then the main thread
 * requests safepoints and handshakes, with and without completions to poll.
 */
final class HotPipeline {
    /** Printed at the end. */
    static final String END = "reached its safepoints";

    private static final PrintStream OUT = System.out;
    private static final int WINDOW = 8;
    private static final int SAFEPOINTS = 20;

    private static volatile boolean quiet;

    private HotPipeline() {
    }

    /** Runs all modes twice, since the second run starts with compiled code. */
    public static void main(final String... arguments) throws TimeoutException {
        for (int round = 0; round < 2; round++) {
            run(Pipeline.builder(), false);
            OUT.println("handler threads");
            run(Pipeline.builder().runToCompletion(), false);
            OUT.println("run to completion");
            run(Pipeline.builder().runToCompletion(), true);
            OUT.println("a round of two queues");
        }
        OUT.println(END);
    }

    private static void run(final PipelineBuilder builder, final boolean twoQueues) throws TimeoutException {
        quiet = false;
        try (ConnectedPair pair = ConnectedPair.of(config -> config.sqSize(2 * WINDOW).cqSize(4 * WINDOW))) {
            final Connection client = pair.client();
            try (Pipeline pipeline = builder.ringSize(64).withoutCountersFile().idleStrategy(NoOpIdleStrategy.INSTANCE)
                    .onAll((completion, sequence, endOfBatch) -> {
                        if (!quiet) {
                            write(client);
                        }
                    }).start()) {
                pipeline.addQueue(client.completionQueue());
                if (twoQueues) {
                    // Always empty.
                    pipeline.addQueue(pair.server().completionQueue());
                }
                for (int i = 0; i < WINDOW; i++) {
                    write(client);
                }
                // C2 may inline the duty cycle into its loop, and compile it no more for itself.
                CompiledCode.awaitC2(CompletionPoller.class.getName() + ".doWork", PollerLoop.class.getName() + ".runCycles");
                requestSafepoints();
                quiet = true;
                requestSafepoints();
                pipeline.removeQueue(client.completionQueue());
                if (twoQueues) {
                    pipeline.removeQueue(pair.server().completionQueue());
                }
            }
        }
    }

    private static void write(final Connection client) {
        client.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, 1);
    }

    private static void requestSafepoints() {
        for (int i = 0; i < SAFEPOINTS; i++) {
            System.gc();
            Arena.ofShared().close();
        }
    }
}
