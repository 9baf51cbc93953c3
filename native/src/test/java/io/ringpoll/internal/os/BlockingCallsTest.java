package io.ringpoll.internal.os;

import static io.ringpoll.internal.posix.FfmPosixFunctions.POSIX;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallState;
import io.ringpoll.os.WaitInterruptedException;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.OtherThread;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that block in C, made for a caller that waits in Java and may be interrupted. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class BlockingCallsTest {
    private static final int TIMEOUT_MS = 30_000;

    private final CountDownLatch calling = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final CountDownLatch closed = new CountDownLatch(1);

    @Test
    void shouldReturnTheObjectOrThrowTheExceptionOfTheCall() {
        final AutoCloseable object = closed::countDown;
        assertSame(object, BlockingCalls.create("a call", handover -> {
            assertTrue(Thread.currentThread().isDaemon());
            assertFalse(handover.isRefused());
            return handover.give(object);
        }));
        assertEquals(1, closed.getCount(), "the object was closed");
        final IllegalStateException exception = new IllegalStateException("the call's");
        assertSame(exception, assertThrows(IllegalStateException.class, () -> BlockingCalls.create("a call", handover -> {
            throw exception;
        })));
        assertTrue(Stream.of(exception.getStackTrace()).anyMatch(frame -> frame.getClassName().startsWith("org.junit.")),
            "the stack is not the caller's");
        final StackOverflowError error = new StackOverflowError();
        assertSame(error, assertThrows(StackOverflowError.class, () -> BlockingCalls.create("a call", handover -> {
            throw error;
        })));
    }

    @Test
    void shouldMakeNoCallForAnInterruptedThread() {
        Thread.currentThread().interrupt();
        final WaitInterruptedException refused = assertThrows(WaitInterruptedException.class,
            () -> BlockingCalls.create("a call", handover -> {
                calling.countDown();
                return null;
            }));
        assertTrue(Thread.interrupted(), "the interrupt is lost");
        assertEquals("a call was interrupted", refused.getMessage());
        assertEquals(1, calling.getCount());
    }

    @Test
    void shouldCloseTheObjectCreatedAfterAnInterrupt() throws InterruptedException {
        final CompletableFuture<AutoCloseable> given = new CompletableFuture<>();
        final OtherThread<Boolean> caller = OtherThread.run(() -> {
            assertThrows(WaitInterruptedException.class, () -> BlockingCalls.create("a call", handover -> {
                await();
                assertTrue(handover.isRefused());
                given.complete(handover.give(closed::countDown));
                return null;
            }));
            return Thread.interrupted();
        });
        assertTrue(calling.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
        caller.interrupt();
        assertTrue(caller.result(), "the interrupt is lost");
        goOn.countDown();
        assertTrue(closed.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
        assertNull(given.join());
    }

    @Test
    void shouldReturnTheObjectThatWasGivenBeforeAnInterrupt() throws InterruptedException {
        final AutoCloseable object = closed::countDown;
        final OtherThread<Boolean> caller = OtherThread.run(() -> {
            assertSame(object, BlockingCalls.create("a call", handover -> {
                final AutoCloseable given = handover.give(object);
                await();
                return given;
            }));
            return Thread.interrupted();
        });
        assertTrue(calling.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
        caller.interrupt();
        caller.requireParked();
        goOn.countDown();
        assertTrue(caller.result(), "the interrupt is lost");
        assertEquals(1, closed.getCount(), "the object was closed");
    }

    @Test
    void shouldLogAnObjectThatCannotBeClosed() throws InterruptedException {
        try (LogCapture log = new LogCapture(BlockingCalls.class.getName())) {
            final OtherThread<?> caller = OtherThread.run(() -> BlockingCalls.create("a call", handover -> {
                await();
                return handover.give(() -> {
                    throw new IllegalStateException("on purpose");
                });
            }));
            assertTrue(calling.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
            caller.interrupt();
            caller.failure(WaitInterruptedException.class);
            goOn.countDown();
            assertTrue(log.await(message -> message.contains("created for an interrupted caller cannot be closed")));
        }
    }

    @Test
    void shouldWaitForADescriptorOnBehalfOfAVirtualThread() throws Exception {
        final int fd = POSIX.eventfd(0, 0);
        final Wakeup wakeup = Wakeup.take();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            assertEquals(Wakeup.TIMED_OUT, threads.submit(() -> wakeup.awaitInterruptibly(fd, 1)).get());
            final CountDownLatch ended = new CountDownLatch(1);
            final AtomicBoolean interrupted = new AtomicBoolean();
            final AtomicBoolean kept = new AtomicBoolean();
            final Thread waiting = Thread.startVirtualThread(() -> {
                calling.countDown();
                interrupted.set(wakeup.awaitInterruptibly(fd, -1) == Wakeup.INTERRUPTED);
                kept.set(Thread.interrupted());
                ended.countDown();
            });
            assertTrue(calling.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
            waiting.interrupt();
            assertTrue(ended.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
            assertTrue(interrupted.get());
            assertTrue(kept.get(), "the interrupt is lost");
            wakeup.release();
            final Wakeup again = Wakeup.take();
            final Future<Integer> readable = threads.submit(() -> again.awaitInterruptibly(fd, TIMEOUT_MS));
            final CallState state = CallState.current();
            final long one = state.scratch();
            state.longAt(0, 1);
            assertEquals(Long.BYTES, POSIX.write(fd, one, Long.BYTES));
            assertEquals(Wakeup.READABLE, readable.get());
            again.release();
        } finally {
            POSIX.close(fd);
        }
    }

    private void await() {
        calling.countDown();
        try {
            assertTrue(goOn.await(TIMEOUT_MS, TimeUnit.MILLISECONDS));
        } catch (final InterruptedException e) {
            throw new AssertionError(e);
        }
    }
}
