package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class SerialExecutorTest {
    private final ArrayDeque<Runnable> threads = new ArrayDeque<>();
    private final SerialExecutor serial = new SerialExecutor(threads::add);
    private final List<Integer> ran = new ArrayList<>();

    @Test
    void shouldUseOneThreadForTasksSubmittedWhileRunning() {
        serial.execute(() -> {
            ran.add(1);
            serial.execute(() -> ran.add(3));
        });
        serial.execute(() -> ran.add(2));
        assertEquals(1, threads.size());
        threads.remove().run();
        assertEquals(List.of(1, 2, 3), ran);
        assertTrue(threads.isEmpty());
    }

    @Test
    void shouldBeIdleOnlyWithoutRunningOrPendingTasks() {
        assertTrue(serial.isIdle());
        final List<Boolean> idle = new ArrayList<>();
        serial.execute(() -> idle.add(serial.isIdle()));
        assertFalse(serial.isIdle());
        threads.remove().run();
        assertEquals(List.of(false), idle);
        assertTrue(serial.isIdle());
    }

    @Test
    void shouldContinueAfterAFailedTask() {
        serial.execute(() -> {
            throw new IllegalStateException("on purpose");
        });
        serial.execute(() -> {
            throw new StackOverflowError("on purpose");
        });
        serial.execute(() -> ran.add(3));
        threads.remove().run();
        assertEquals(List.of(3), ran);
        serial.execute(() -> ran.add(4));
        threads.remove().run();
        assertEquals(List.of(3, 4), ran);
    }

    @Test
    void shouldRetainNothingOfARejectedRequest() {
        final boolean[] refuses = {true};
        final SerialExecutor closing = new SerialExecutor(task -> {
            if (refuses[0]) {
                throw new RejectedExecutionException("closing");
            }
            task.run();
        });
        assertThrows(RejectedExecutionException.class, () -> closing.execute(() -> ran.add(1)));
        refuses[0] = false;
        closing.execute(() -> ran.add(2));
        assertEquals(List.of(2), ran);
    }
}
