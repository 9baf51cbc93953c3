package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.os.OwnedMemory;
import io.ringpoll.poller.SyntheticQueue;
import io.ringpoll.testing.JavaProcess;
import java.io.PrintStream;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A pipeline is stopped without time in the middle of a long round: the poller still writes to the slab then. */
@Timeout(value = 100, unit = TimeUnit.SECONDS)
class StopUnderPollTest {
    private static final int TIMEOUT_SECONDS = 90;

    @ParameterizedTest
    @EnumSource
    void shouldNotFreeTheSlabUnderABusyPoller(final Mode mode) {
        final String output = JavaProcess.create().property(OwnedMemory.DEBUG_PROPERTY, "true").timeoutSeconds(TIMEOUT_SECONDS)
            .option("-XX:-CreateCoredumpOnCrash").option("-XX:+ErrorFileToStdout").run(StoppingAtOnce.class, mode.name());
        assertTrue(output.endsWith(StoppingAtOnce.END), () -> output.lines().limit(60).toList().toString());
    }

    /** The users of the slab other than the poller. */
    enum Mode {
        /** Handlers' threads, which end after the poller. */
        HANDLERS_RUN,
        /** None: the only handler has failed and its thread has ended. */
        HANDLER_FAILED,
        /** None: the handlers run on the poller's thread. */
        RUN_TO_COMPLETION
    }

    /** Stops busy pipelines where a freed slab cannot be touched. */
    static final class StoppingAtOnce {
        /** Printed at the end. */
        static final String END = "no touch of a freed slab, and nothing left";

        private static final PrintStream OUT = System.out;
        private static final int STOPS = 20;
        private static final int RING_SIZE = 1 << 20;
        /** One round over the queues fills the ring, which takes milliseconds. */
        private static final int QUEUES = 4;

        private StoppingAtOnce() {
        }

        public static void main(final String[] arguments) throws InterruptedException {
            for (int i = 0; i < STOPS; i++) {
                stopInMidRound(Mode.valueOf(arguments[0]));
            }
            OUT.println(OwnedMemory.guardedBytes() == 0 ? END : OwnedMemory.guardedBytes() + " bytes left");
        }

        private static void stopInMidRound(final Mode mode) throws InterruptedException {
            final PipelineBuilder builder = Pipeline.builder().ringSize(RING_SIZE).batchLimit(RING_SIZE / QUEUES)
                .withoutCountersFile();
            for (int i = 0; i < QUEUES; i++) {
                builder.queue(new SyntheticQueue("queue-" + i, Long.MAX_VALUE));
            }
            if (mode == Mode.HANDLER_FAILED) {
                builder.onAll((completion, sequence, endOfBatch) -> {
                    throw new IllegalStateException("provoked");
                }, options -> options.failurePolicy(FailurePolicy.HALT));
            } else {
                builder.onAll((completion, sequence, endOfBatch) -> { });
            }
            final Pipeline pipeline = (mode == Mode.RUN_TO_COMPLETION ? builder.runToCompletion() : builder).start();
            while (pipeline.handlers().ring().cursor().get() < 0) {
                Thread.onSpinWait();
            }
            if (mode == Mode.HANDLER_FAILED) {
                join(pipeline.handlerThreads());
            }
            pipeline.stop(0);
            pipeline.pollerThread().join();
            join(pipeline.handlerThreads());
        }

        private static void join(final List<Thread> threads) throws InterruptedException {
            for (final Thread thread : threads) {
                thread.join();
            }
        }
    }
}
