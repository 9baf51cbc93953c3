package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.completion.WcOpcode;
import io.ringpoll.completion.WcStatus;
import io.ringpoll.poller.ScriptedQueue;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The user's threads and error handler. */
@Timeout(60)
class EmbeddingTest {
    private static final long BOUND_NS = TimeUnit.SECONDS.toNanos(50);

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
    void shouldRefuseAThreadThatHasBeenStarted() throws InterruptedException {
        final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        final List<Thread> started = new ArrayList<>();
        final String before = Thread.currentThread().getName();
        final String remedy = ", which has been started: return a new thread each time";
        assertEquals("the thread factory returned thread user's" + remedy, refusal(task -> {
            final Thread thread = new Thread(task, "user's");
            thread.setUncaughtExceptionHandler((failed, failure) -> uncaught.add(failure));
            thread.start();
            started.add(thread);
            return thread;
        }));
        started.getFirst().join();
        assertEquals(List.of("a thread factory has run the task of a pipeline's thread before its start, or twice"),
            uncaught.stream().map(Throwable::getMessage).toList());
        assertEquals("the thread factory returned thread " + before + remedy, refusal(task -> Thread.currentThread()));
        assertEquals(before, Thread.currentThread().getName());
    }

    @Test
    void shouldRefuseAVirtualThread() {
        assertEquals("the thread factory returned a virtual thread: return platform threads",
            refusal(Thread.ofVirtual().factory()::newThread));
    }

    @Test
    void shouldRefuseAThreadThatItHasAlready() {
        final List<Thread> first = new ArrayList<>();
        assertEquals("the thread factory returned thread ringpoll-all twice: return a new thread each time", refusal(task -> {
            if (first.isEmpty()) {
                first.add(new Thread(task));
            }
            return first.getFirst();
        }));
    }

    @Test
    void shouldNotStartOnAThreadThatTheFactoryDidNotReturn() {
        final String refused = refusal(task -> new Thread(() -> Thread.ofPlatform().daemon().name("other").start(task)));
        assertEquals(
            "thread ringpoll-all did not start: the thread factory returned ringpoll-all, and runs its task on other", refused);
    }

    @Test
    void shouldRunATaskOnce() throws InterruptedException {
        final List<Throwable> second = new CopyOnWriteArrayList<>();
        final ScriptedQueue queue = new ScriptedQueue("queue").add(1, WcStatus.SUCCESS, WcOpcode.SEND);
        final Pipeline pipeline = Pipeline.builder().threadFactory(task -> new Thread(() -> {
            task.run();
            try {
                task.run();
            } catch (final IllegalStateException refused) {
                second.add(refused);
            }
        })).onAll((wc, sequence, endOfBatch) -> { }).queue(queue).start();
        assertEquals(new PipelineReport(1, 1, 0, 0, true), pipeline.close(BOUND_NS));
        pipeline.pollerThread().join();
        pipeline.handlerThreads().getFirst().join();
        assertEquals(2, second.size());
    }

    private static String refusal(final ThreadFactory factory) {
        final PipelineBuilder description =
            Pipeline.builder().threadFactory(factory).onAll((wc, sequence, endOfBatch) -> { });
        return assertThrows(RuntimeException.class, description::start).getMessage();
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
