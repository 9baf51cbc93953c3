package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ByteWindowTest {
    private static final TimeDuration LONG = TimeDuration.valueOf(50, TimeUnit.SECONDS);
    private static final TimeDuration NONE = TimeDuration.ZERO;

    private final ByteWindow window = new ByteWindow(100);

    private Waiter waiter(final int bytes) throws InterruptedException {
        final CompletableFuture<Void> done = new CompletableFuture<>();
        final Thread thread = Thread.ofPlatform().daemon().start(() -> {
            try {
                window.acquire(bytes, LONG);
                done.complete(null);
            } catch (final InterruptedException | TimeoutException e) {
                done.completeExceptionally(e);
            }
        });
        while (thread.getState() != Thread.State.TIMED_WAITING && !done.isDone()) {
            TimeUnit.MILLISECONDS.sleep(1);
        }
        return new Waiter(thread, done);
    }

    private record Waiter(Thread thread, CompletableFuture<Void> done) {
    }

    @Test
    void shouldRefuseWhatHasNoRoom() throws Exception {
        assertTrue(window.tryAcquire(60));
        assertFalse(window.tryAcquire(41));
        assertThrows(TimeoutException.class, () -> window.acquire(41, NONE));
        assertTrue(window.tryAcquire(40));
        window.release(60);
        window.acquire(60, NONE);
        assertEquals(100, window.bytes());
    }

    @Test
    void shouldPermitASingleMessageThatIsLongerThanTheWindow() {
        assertTrue(window.tryAcquire(1000));
        assertFalse(window.tryAcquire(1));
        window.release(1000);
        assertTrue(window.tryAcquire(1));
    }

    @Test
    void shouldWakeTheSenderOfAMessageOfAnyLength() throws Exception {
        for (final int bytes : new int[] {1, 50, 51, 100, 101}) {
            for (int i = 0; i < 10; i++) {
                assertTrue(window.tryAcquire(10));
            }
            final Waiter waiter = waiter(bytes);
            for (int i = 0; i < 10; i++) {
                window.release(10);
            }
            waiter.done.join();
            window.release(bytes);
        }
        assertEquals(0, window.bytes());
    }

    @Test
    void shouldNotLetAMessageOvertakeThoseThatWait() throws Exception {
        assertTrue(window.tryAcquire(90));
        final Waiter waiter = waiter(20);
        assertFalse(window.tryAcquire(5));
        waiter.thread.interrupt();
        assertThrows(CompletionException.class, waiter.done::join);
        assertTrue(window.tryAcquire(5));
    }
}
