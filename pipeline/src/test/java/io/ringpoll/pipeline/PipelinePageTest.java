package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.AsyncEvents;
import io.ringpoll.completion.CompletionBudget;
import io.ringpoll.completion.QueuePairAttachments;
import io.ringpoll.completion.VerbsContext;
import io.ringpoll.completion.WorkCompletion;
import io.ringpoll.counters.Counters;
import io.ringpoll.poller.EventDrivenIdle;
import io.ringpoll.rpma.CompletionFlag;
import io.ringpoll.rpma.Connection;
import io.ringpoll.rpma.LocalMemoryRegion;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.SharedReceiveQueue;
import io.ringpoll.rpma.SharedReceiveQueueConfig;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.TestDevice;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The examples of docs/guide/pipeline.md and docs/operations/monitoring.md: they are the code of this class, and it runs. */
@Timeout(60)
class PipelinePageTest {
    private static final List<Path> PAGES =
        List.of(Path.of("..", "docs", "guide", "pipeline.md"), Path.of("..", "docs", "operations", "monitoring.md"));
    private static final Path SOURCE =
        Path.of("src", "test", "java", "io", "ringpoll", "pipeline", "PipelinePageTest.java");
    private static final long TEN_SECONDS = TimeUnit.SECONDS.toNanos(10);

    private final List<String> heard = new CopyOnWriteArrayList<>();
    private final AtomicLong bytes = new AtomicLong();

    @Test
    void shouldShowOnlyCodeThatRuns() throws IOException {
        final String code = normalized(Files.readString(SOURCE)) + normalized(Files.readString(AgentPageTest.SOURCE));
        for (final Path page : PAGES) {
            boolean inExample = false;
            int lines = 0;
            for (final String line : Files.readAllLines(page)) {
                if (line.strip().startsWith("```")) {
                    inExample = line.strip().equals("```java");
                } else if (inExample && !line.isBlank()) {
                    assertTrue(code.contains(normalized(line)), () -> "not in this class: " + line);
                    lines++;
                }
            }
            assertTrue(lines > 0, () -> "no example in " + page);
        }
    }

    @Test
    void shouldReadItsCounters() throws IOException {
        try (Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { }).start()) {
            final StringBuilder response = new StringBuilder();
            Counters counters = pipeline.counters();
            long stalls = counters.sum("ring_full_stalls");
            counters.values().forEach(counter -> print(counter.label() + ": " + counter.value() + " " + counter.unit()));
            counters.writeOpenMetrics(response);                            // with the content type Counters.OPEN_METRICS_TYPE
            assertEquals(0, stalls);
            assertTrue(heard.size() > 20, heard::toString);
            assertTrue(response.toString().endsWith("# EOF\n"), response::toString);
        }
    }

    private void print(final String line) {
        heard.add(line);
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldJournalBeforeItAcknowledges() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); Pipeline pipeline = replication(pair.client())) {
            assertTrue(post(pair, 1));
            awaitPolled(pipeline, 1);
            assertTrue(pipeline.drain(TEN_SECONDS).inTime());
            assertEquals(List.of("journal", "acknowledge"), heard);
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldReplyOnThePollingThread() throws InterruptedException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pair.server().receive(pair.memory(64), 0, 64, 1);
            pair.client().receive(pair.memory(64), 0, 64, 2);
            try (Pipeline pipeline = answering(pair.server()); Pipeline asking = Pipeline.builder().name("asking")
                .onAll((wc, sequence, endOfBatch) -> heard.add(wc.path() + " of the client"))
                .queue(pair.client().completionQueue()).start()) {
                assertTrue(pair.client().send(null, 0, 0, CompletionFlag.ON_ERROR, 0));
                while (heard.size() < 2) {
                    Thread.sleep(1);
                }
                assertTrue(pipeline.drain(TEN_SECONDS).inTime());
                assertEquals(List.of(pipeline.pollerThread().getName(), "RECEIVE of the client"), heard);
            }
        }
    }

    private Pipeline answering(final Connection connection) {
        Pipeline pipeline = Pipeline.builder()
            .runToCompletion()
            .queue(connection.completionQueue())
            .onReceive((wc, sequence, endOfBatch) -> answer(connection, wc))
            .onSendWrite((wc, sequence, endOfBatch) -> { })
            .onError((wc, sequence, endOfBatch) -> failed(wc))
            .start();
        return pipeline;
    }

    private void answer(final Connection connection, final WorkCompletion request) {
        heard.add(Thread.currentThread().getName());
        connection.send(null, 0, 0, CompletionFlag.ALWAYS, request.workRequestId());
    }

    private Pipeline replication(final Connection connection) {
        final CompletionHandler journal = (wc, sequence, endOfBatch) -> heard.add("journal");
        final CompletionHandler acknowledge = (wc, sequence, endOfBatch) -> heard.add("acknowledge");
        Pipeline pipeline = Pipeline.builder()
            .name("replication")
            .queue(connection.completionQueue())
            .batchLimit(16)
            .ringSize(4096)
            .pollerName("replication-poller")
            .idleStrategy(new EventDrivenIdle())
            .onSendWrite(journal, options -> options.name("journal").waitStrategy(WaitMode.BLOCK))
            .then(acknowledge, options -> options.name("acknowledge").failurePolicy(FailurePolicy.HALT))
            .onReceive((wc, sequence, endOfBatch) -> received(wc))
            .onError((wc, sequence, endOfBatch) -> failed(wc))
            .start();
        return pipeline;
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldHandleBatches() {
        final PipelineBuilder builder = Pipeline.builder();
        builder.onAllBatch(batch -> {
            for (int i = 0; i < batch.size(); i++) {
                bytes.addAndGet(batch.completion(i).lengthBytes());
            }
        });
        assertHandles(builder, 3);
    }

    /** A session of the user. */
    private final class Session {
        void received(final WorkCompletion wc) {
            heard.add("received " + wc.workRequestId());
        }

        void sent(final WorkCompletion wc) {
            heard.add("sent " + wc.workRequestId());
        }

        void failed(final WorkCompletion wc) {
            heard.add("failed " + wc.workRequestId());
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldLeadToTheSession() throws TimeoutException {
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            final Connection connection = pair.client();
            final Session session = new Session();
            Pipeline pipeline = Pipeline.builder()
                .onReceive((wc, sequence, endOfBatch) -> ((Session) wc.attachment()).received(wc))
                .onSendWrite((wc, sequence, endOfBatch) -> ((Session) wc.attachment()).sent(wc))
                .onError((wc, sequence, endOfBatch) -> ((Session) wc.attachment()).failed(wc))
                .start();
            pipeline.addQueue(connection.completionQueue(), session);
            assertTrue(post(pair, 7));
            while (connection.completionQueue().budget().inFlight() > 0) {
                Thread.onSpinWait();
            }
            boolean handled = pipeline.removeQueue(connection.completionQueue(), TEN_SECONDS);
            assertTrue(handled);
            assertEquals(List.of("sent 7"), heard);
            assertTrue(pipeline.close(TEN_SECONDS).inTime());
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldLeadToTheSessionOfASharedReceiveQueue() {
        try (Peer peer = Peer.ofLocal(TestDevice.address()); ConnectedPair pair = ConnectedPair.ofDefaults();
            SharedReceiveQueueConfig config = SharedReceiveQueueConfig.create().rqSize(4).rcqSize(4);
            SharedReceiveQueue shared = peer.sharedReceiveQueue(config);
            Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { }).start()) {
            final Connection connection = pair.client();
            final Session session = new Session();
            QueuePairAttachments sessions = new QueuePairAttachments();
            sessions.put(connection.queuePairNumber(), session);
            pipeline.addQueue(shared.receiveCompletionQueue().orElseThrow(), sessions);
            assertSame(session, sessions.get(connection.queuePairNumber()));
            assertTrue(pipeline.close(TEN_SECONDS).inTime());
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldPostFirstInATask() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            Pipeline pipeline = Pipeline.builder().runToCompletion().onAll((wc, sequence, endOfBatch) ->
                heard.add(Thread.currentThread().getName() + " " + wc.workRequestId())).start()) {
            final Connection connection = pair.client();
            final LocalMemoryRegion message = pair.memory(64);
            assertTrue(pair.server().receive(message, 0, 64, 1));
            pipeline.addQueue(connection.completionQueue());
            Runnable first = () -> connection.send(message, 0, 64, CompletionFlag.ALWAYS, 1);
            boolean accepted = pipeline.execute(first);
            assertTrue(accepted);
            while (heard.isEmpty()) {
                Thread.onSpinWait();
            }
            assertTrue(pipeline.close(TEN_SECONDS).inTime());
            assertEquals(List.of(pipeline.pollerThread().getName() + " 1"), heard);
        }
    }

    /** Holds slots for another thread. */
    private static final class Later implements CompletionHandler {
        private final BlockingQueue<Long> work = new LinkedBlockingQueue<>();
        private SlotControl slots;

        @Override
        public void onStart(final SlotControl control) {
            slots = control;
        }

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            if (slots.hold(sequence)) {
                work.add(sequence);
            }
        }

        void finishOne(final WorkCompletion mine) throws InterruptedException {
            long sequence = work.take();
            slots.view(sequence, mine).workRequestId();
            slots.release(sequence);
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldHoldSlotsForAnotherThread() throws InterruptedException {
        final Later later = new Later();
        try (ConnectedPair pair = ConnectedPair.ofDefaults(); Pipeline pipeline = Pipeline.builder()
                .onAll(later, options -> options.maxHeld(64))
                .start()) {
            pipeline.addQueue(pair.client().completionQueue());
            assertTrue(post(pair, 1));
            later.finishOne(new WorkCompletion());
            assertEquals(0, pipeline.held());
        }
    }

    /** Flushes when there has been no completion for a time. */
    private final class Journal implements CompletionHandler {
        private final CountDownLatch flushed = new CountDownLatch(1);

        @Override
        public void onCompletion(final WorkCompletion wc, final long sequence, final boolean endOfBatch) {
            written(wc.workRequestId());
        }

        @Override
        public void onIdle() {
            flush();
        }

        private void written(final long workRequestId) {
            heard.add("written " + workRequestId);
        }

        private void flush() {
            if (!heard.isEmpty()) {
                flushed.countDown();
            }
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldFlushWhenIdle() throws InterruptedException {
        final Journal journal = new Journal();
        Pipeline pipeline = Pipeline.builder()
            .onAll(journal, options -> options.idleTimeoutNs(TimeUnit.MILLISECONDS.toNanos(1)))
            .start();
        try (pipeline; ConnectedPair pair = ConnectedPair.ofDefaults()) {
            pipeline.addQueue(pair.client().completionQueue());
            assertTrue(post(pair, 5));
            assertTrue(journal.flushed.await(20, TimeUnit.SECONDS));
            assertEquals(List.of("written 5"), heard);
            assertTrue(pipeline.close(TEN_SECONDS).inTime());
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldApplyTheUsersFailurePolicy() {
        FailurePolicy tolerant = (failure, sequence) ->
            failure instanceof IllegalStateException ? FailurePolicy.Decision.CONTINUE : FailurePolicy.Decision.HALT;
        assertHandles((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("provoked");
        }, 3, options -> options.failurePolicy(tolerant));
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldPauseDrainAndClose() {
        final Connection connection;
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            connection = pair.client();
            Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { }).start();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> pipeline.close(TEN_SECONDS)));
            pipeline.addQueue(connection.completionQueue());
            boolean paused = pipeline.pause(TEN_SECONDS);
            boolean resumed = pipeline.resume(TEN_SECONDS);
            PipelineReport drained = pipeline.drain(TEN_SECONDS);
            PipelineReport report = pipeline.close(TEN_SECONDS);
            assertTrue(paused && resumed && drained.inTime() && report.inTime());
            assertEquals(0, report.inQueues());
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldPollWithSeveralPollers() {
        final CompletionHandler[] handlers = {(wc, sequence, last) -> heard.add("0"), (wc, sequence, last) -> heard.add("1")};
        try (ConnectedPair pair = ConnectedPair.ofDefaults()) {
            PipelineGroup group = PipelineGroup.start(2, i ->
                Pipeline.builder().name("shard-" + i).onAll(handlers[i]));
            final Connection connection = pair.client();
            group.addQueue(connection.completionQueue());
            group.addQueue(pair.server().completionQueue());
            assertTrue(post(pair, 1));
            assertTrue(group.close(TEN_SECONDS).stream().allMatch(PipelineReport::inTime));
            assertEquals(List.of("0"), heard);
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldRefuseAPostOverTheBudget() {
        try (ConnectedPair pair = ConnectedPair.of(config -> config.cqSize(4).sqSize(100))) {
            final Connection connection = pair.client();
            CompletionBudget budget = connection.completionQueue().budget();
            int posted = 0;
            while (connection.write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, posted)) {
                posted++;
            }
            assertEquals(budget.depth(), posted);
            connection.completionQueue().withoutBudget();
        }
    }

    @Test
    @Tag(TestDevice.TAG)
    void shouldWatchTheDevice() {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> { }).start()) {
            final VerbsContext context = pair.peer().context();
            AsyncEvents.Subscription watch = pipeline.watch(context);
            watch.close();
        }
    }

    private void assertHandles(
        final CompletionHandler handler, final int count, final Consumer<HandlerOptions> options) {
        assertHandles(Pipeline.builder().onAll(handler, options), count);
    }

    private static void assertHandles(final PipelineBuilder builder, final int count) {
        try (ConnectedPair pair = ConnectedPair.ofDefaults();
            Pipeline pipeline = builder.start()) {
            pipeline.addQueue(pair.client().completionQueue());
            for (int i = 0; i < count; i++) {
                assertTrue(post(pair, i));
            }
            awaitPolled(pipeline, count);
            final PipelineReport report = pipeline.drain(TEN_SECONDS);
            assertTrue(report.inTime());
            assertEquals(count, report.handled());
        }
    }

    /** A work request may complete after its post has returned: draining does not wait for those. */
    private static void awaitPolled(final Pipeline pipeline, final long count) {
        while (pipeline.pollerCounters().completions() < count) {
            Thread.onSpinWait();
        }
    }

    private static boolean post(final ConnectedPair pair, final long id) {
        return pair.client().write(null, 0, null, 0, 0, CompletionFlag.ALWAYS, id);
    }

    private void received(final WorkCompletion wc) {
        heard.add("received " + wc.workRequestId());
    }

    private void failed(final WorkCompletion wc) {
        heard.add("failed " + wc.workRequestId());
    }

    /** Code without comments and spaces, so that the page may use its own layout. */
    static String normalized(final String text) {
        try (Stream<String> lines = text.lines()) {
            return lines.map(line -> line.replaceAll("//.*", "").replaceAll("\\s", "")).collect(Collectors.joining());
        }
    }
}
