package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.poller.ScriptedQueue;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.UnsafeBuffer;
import org.agrona.concurrent.YieldingIdleStrategy;
import org.agrona.concurrent.status.ConcurrentCountersManager;
import org.agrona.concurrent.status.CountersManager;
import org.agrona.concurrent.status.CountersReader;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Counters in a mapped file that somebody truncates while the pipeline runs. */
@Timeout(60)
class TruncatedCountersTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);
    /** Enough for a compilation of the counters' stores, whose faults are not thrown at once then. */
    private static final int WARM_UP_ROUNDS = 300;

    private final ScriptedQueue queue = new ScriptedQueue("queue");
    private final CountDownLatch ended = new CountDownLatch(2);
    @TempDir
    private Path folder;

    /** A handler that reports its end. */
    private record Ending(CountDownLatch ended) implements CompletionHandler {
        @Override
        public void onCompletion(final WorkCompletion completion, final long sequence, final boolean endOfBatch) {
        }

        @Override
        public void onShutdown() {
            ended.countDown();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "threads, true", "run to completion, true", "agent, true",
        "threads, false", "run to completion, false", "agent, false"
    })
    void shouldHaltAndCloseCompletely(final String kind, final boolean ofTheUser) throws Exception {
        final PipelineBuilder description = Pipeline.builder().queue(queue).errorHandler(error -> { })
            .onAll(new Ending(ended)).onAll(new Ending(ended), options -> options.name("second"));
        if (ofTheUser) {
            description.countersManager(mapped(folder.resolve("counters")));
        } else {
            description.countersFolder(folder);
        }
        if (!kind.equals("threads")) {
            description.runToCompletion();
        }
        final Pipeline pipeline = (kind.equals("agent") ? description.asAgent() : description).start();
        AgentRunner runner = null;
        if (kind.equals("agent")) {
            runner = new AgentRunner(new YieldingIdleStrategy(), failure -> { }, null, pipeline.agent());
            AgentRunner.startOnThread(runner);
        }
        for (int i = 0; i < WARM_UP_ROUNDS; i++) {
            add(5);
            assertTrue(pipeline.drain(BOUND_NS).inTime());
        }
        truncate(ofTheUser ? folder.resolve("counters") : pipeline.countersFile());
        assertLost(pipeline::counters);
        assertLost(pipeline::handlerExceptions);
        add(5);
        while (pipeline.state() != PipelineState.HALTED) {
            Thread.sleep(1);
        }
        pipeline.close(BOUND_NS);
        assertEquals(PipelineState.CLOSED, pipeline.state());
        assertInstanceOf(InternalError.class, pipeline.failure());
        assertEquals(0, ended.getCount());
        assertTrue(pipeline.slab().isFreed());
        assertLost(pipeline::counters);
        final List<String> errors = new ArrayList<>();
        if (ofTheUser) {
            // The error log is not in the user's file.
            pipeline.readErrors(errors::add);
            assertTrue(errors.getFirst().contains("InternalError"), errors::toString);
        } else {
            assertLost(() -> pipeline.readErrors(errors::add));
        }
        pipeline.removeQueue(queue);
        if (runner != null) {
            runner.close();
        }
    }

    private static void assertLost(final Executable reader) {
        assertTrue(assertThrows(IllegalStateException.class, reader).getMessage().endsWith(
            " are lost: their file was truncated"));
    }

    private static void truncate(final Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(0);
        }
    }

    private static CountersManager mapped(final Path file) throws IOException {
        final int metadataLength = 1024 * CountersReader.METADATA_LENGTH;
        final int valuesLength = 1024 * CountersReader.COUNTER_LENGTH;
        try (FileChannel channel = FileChannel.open(
            file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return new ConcurrentCountersManager(
                new UnsafeBuffer(channel.map(FileChannel.MapMode.READ_WRITE, 0, metadataLength)),
                new UnsafeBuffer(channel.map(FileChannel.MapMode.READ_WRITE, metadataLength, valuesLength)));
        }
    }

    private void add(final int count) {
        for (int i = 0; i < count; i++) {
            queue.add(i, WcStatus.SUCCESS, WcOpcode.SEND);
        }
    }
}
