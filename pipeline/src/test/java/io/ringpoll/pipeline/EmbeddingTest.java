package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.poller.ScriptedQueue;
import io.ringpoll.verbs.WcOpcode;
import io.ringpoll.verbs.WcStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The user's threads and error handler. */
@Timeout(60)
class EmbeddingTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(20);

    @Test
    void shouldRunOnTheThreadsOfTheUsersFactory() {
        final List<Thread> created = new CopyOnWriteArrayList<>();
        final ThreadGroup group = new ThreadGroup("user's");
        try (Pipeline pipeline = Pipeline.builder().name("p").threadFactory(task -> {
            final Thread thread = new Thread(group, task, "of the user");
            created.add(thread);
            return thread;
        }).onAll((wc, sequence, endOfBatch) -> { }).start()) {
            final List<Thread> own = new ArrayList<>(pipeline.handlerThreads());
            own.add(pipeline.pollerThread());
            assertEquals(own, created);
            assertEquals(List.of("p-all", "p-poller"), created.stream().map(Thread::getName).toList());
            assertTrue(created.stream().allMatch(Thread::isDaemon));
            assertSame(group, pipeline.pollerThread().getThreadGroup());
        }
    }

    @Test
    void shouldNotStartWithoutAThread() {
        final PipelineBuilder description =
            Pipeline.builder().threadFactory(task -> null).onAll((wc, sequence, endOfBatch) -> { });
        assertEquals("the thread factory returned null",
            assertThrows(NullPointerException.class, description::start).getMessage());
    }

    @Test
    void shouldPassRecordedExceptionsToTheUser() throws InterruptedException {
        final List<String> passed = new CopyOnWriteArrayList<>();
        final CountDownLatch executed = new CountDownLatch(1);
        final ScriptedQueue queue = new ScriptedQueue("queue").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        try (Pipeline pipeline = Pipeline.builder().onAll((wc, sequence, endOfBatch) -> {
            throw new IllegalStateException("of a handler");
        }).errorHandler(failure -> {
            passed.add(failure.getMessage());
            throw new IllegalStateException("of the error handler");
        }).queue(queue).start()) {
            assertTrue(pipeline.drain(BOUND_NS).inTime());
            assertTrue(pipeline.execute(() -> {
                executed.countDown();
                throw new IllegalStateException("of a task");
            }));
            executed.await();
            assertTrue(pipeline.close(BOUND_NS).inTime());
            assertEquals(List.of("of a handler", "of a task"), passed);
            final List<String> recorded = new ArrayList<>();
            pipeline.readErrors(recorded::add);
            assertTrue(recorded.stream().anyMatch(line -> line.contains("of the error handler")), recorded::toString);
            assertTrue(recorded.stream().anyMatch(line -> line.contains("of a task")), recorded::toString);
        }
    }
}
