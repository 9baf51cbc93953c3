package io.ringpoll.verify.torture.lifecycle;

import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.pipeline.HandlerOptions;
import io.ringpoll.pipeline.Pipeline;
import io.ringpoll.pipeline.PipelineBuilder;
import io.ringpoll.pipeline.WaitMode;
import io.ringpoll.synthetic.CompletionKind;
import io.ringpoll.synthetic.CompletionMix;
import io.ringpoll.synthetic.Schedule;
import io.ringpoll.synthetic.SyntheticProgram;
import io.ringpoll.synthetic.SyntheticSource;
import java.io.PrintStream;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * Runs the loops of poller and handlers until C2 has compiled them, in both delivery modes: compiled loops have other safepoints
 * than interpreted ones. Stateless.
 */
final class WarmUp {
    private static final long COMPLETIONS = 3_000_000;
    private static final long LONGEST_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long POLL_NS = 1_000_000;

    private WarmUp() {
    }

    static void play(final PrintStream out) {
        for (final boolean runToCompletion : new boolean[] {false, true}) {
            out.println("warm-up");
            play(runToCompletion);
        }
    }

    private static void play(final boolean runToCompletion) {
        try (SyntheticSource source = SyntheticSource.open()) {
            source.start(SyntheticProgram.of(CompletionMix.shares().add(CompletionKind.write(1), 8)
                .add(CompletionKind.receive(1, 8), 8).shuffled(1), Schedule.saturation()).limitedTo(COMPLETIONS));
            final PipelineBuilder builder = Pipeline.builder().name("warm-up").withoutCountersFile().queue(source.queue());
            if (runToCompletion) {
                builder.runToCompletion();
            }
            final Consumer<HandlerOptions> options = given -> {
                if (!runToCompletion) {
                    given.waitStrategy(WaitMode.YIELD);
                }
            };
            builder.onSendWrite(WarmUp::look, options).onReceive(WarmUp::look, options).onError(WarmUp::look, options);
            final Pipeline pipeline = builder.start();
            final long endNs = System.nanoTime() + LONGEST_NS;
            while (source.given() < COMPLETIONS && System.nanoTime() - endNs < 0) {
                LockSupport.parkNanos(POLL_NS);
            }
            pipeline.close();
        }
    }

    private static void look(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        completion.workRequestId();
    }
}
