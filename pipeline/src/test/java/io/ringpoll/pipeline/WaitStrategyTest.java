package io.ringpoll.pipeline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.lmax.disruptor.AlertException;
import com.lmax.disruptor.Sequence;
import com.lmax.disruptor.WaitStrategy;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The wait strategies of handlers by themselves: the end of a wait, and the place where the thread waits. */
@Timeout(60)
class WaitStrategyTest {
    /** Less than the park of a handler in tests, so that a lost wake-up is a failure. */
    private static final Duration BOUND = Duration.ofSeconds(50);

    private final Sequence cursor = new Sequence(-1);
    private WaitStrategy strategy = WaitMode.BLOCK.newWaitStrategy();
    private HandlerBarrier barrier;
    private FutureTask<Long> wait;
    private Thread waiter;

    @AfterEach
    void end() throws InterruptedException {
        if (waiter != null) {
            cursor.set(Long.MAX_VALUE);
            barrier.alert();
            assertTrue(waiter.join(BOUND));
        }
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldReturnTheLastSlotWithoutAWait(final WaitMode mode) throws Exception {
        strategy = mode.newWaitStrategy();
        cursor.set(7);
        for (final long sequence : new long[]{0, 6, 7}) {
            assertEquals(7, newBarrier().waitFor(sequence));
        }
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldEndTheWaitWithAPublication(final WaitMode mode) throws Exception {
        strategy = mode.newWaitStrategy();
        startWaitFor(0);
        cursor.set(0);
        strategy.signalAllWhenBlocking();
        assertEquals(0, result());
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldEndTheWaitWithAnAlert(final WaitMode mode) throws InterruptedException {
        strategy = mode.newWaitStrategy();
        startWaitFor(0);
        barrier.alert();
        assertInstanceOf(AlertException.class, assertThrows(ExecutionException.class, this::result).getCause());
    }

    @Test
    void shouldNotWaitAfterAnAlertUntilItIsCleared() throws Exception {
        cursor.set(0);
        newBarrier();
        barrier.alert();
        assertTrue(barrier.isAlerted());
        assertThrows(AlertException.class, () -> barrier.waitFor(0));
        barrier.clearAlert();
        assertFalse(barrier.isAlerted());
        assertEquals(0, barrier.waitFor(0));
    }

    @Test
    void shouldEndAParkWithAPublication() throws Exception {
        startWaitFor(0);
        awaitParked();
        cursor.set(3);
        strategy.signalAllWhenBlocking();
        assertEquals(3, result());
    }

    @ParameterizedTest
    @EnumSource(value = WaitMode.class, names = {"SLEEP", "BLOCK"})
    void shouldEndAParkWithAnAlert(final WaitMode mode) throws InterruptedException {
        strategy = mode.newWaitStrategy();
        startWaitFor(0);
        awaitParked();
        barrier.alert();
        assertInstanceOf(AlertException.class, assertThrows(ExecutionException.class, this::result).getCause());
    }

    @Test
    void shouldParkAgainAfterASignalForAnEarlierSlot() throws Exception {
        startWaitFor(1);
        awaitParked();
        cursor.set(0);
        strategy.signalAllWhenBlocking();
        awaitParked();
        cursor.set(1);
        strategy.signalAllWhenBlocking();
        assertEquals(1, result());
    }

    @ParameterizedTest
    @EnumSource(value = WaitMode.class, names = {"SLEEP", "BLOCK"})
    void shouldParkThoughItsThreadIsInterrupted(final WaitMode mode) throws Exception {
        strategy = mode.newWaitStrategy();
        startWaitFor(0);
        awaitParked();
        waiter.interrupt();
        await(() -> !waiter.isInterrupted());
        awaitParked();
        assertFalse(wait.isDone());
    }

    @ParameterizedTest
    @EnumSource(WaitMode.class)
    void shouldReadAPublishedSlotOnce(final WaitMode mode) throws Exception {
        final long[] reads = new long[1];
        final Sequence counted = new Sequence(0) {
            @Override
            public long get() {
                reads[0]++;
                return super.get();
            }
        };
        assertEquals(0, new HandlerBarrier(cursor, counted, mode.newWaitStrategy()).waitFor(0));
        assertEquals(1, reads[0]);
    }

    @Test
    void shouldReturnWithoutAParkIfTheSlotIsPublishedAfterTheSpin() throws Exception {
        final long spins = 100;
        final long[] reads = new long[1];
        final Sequence late = new Sequence(-1) {
            @Override
            public long get() {
                return ++reads[0] > spins ? 0 : -1;
            }
        };
        assertEquals(0, new HandlerBarrier(cursor, late, strategy).waitFor(0));
        assertEquals(spins + 1, reads[0]);
    }

    private HandlerBarrier newBarrier() {
        barrier = new HandlerBarrier(cursor, cursor, strategy);
        return barrier;
    }

    private void startWaitFor(final long sequence) {
        newBarrier();
        wait = new FutureTask<>(() -> barrier.waitFor(sequence));
        waiter = Thread.ofPlatform().daemon().start(wait);
    }

    private long result() throws InterruptedException, ExecutionException {
        assertTrue(waiter.join(BOUND), "the wait does not end");
        return wait.get();
    }

    private void awaitParked() {
        await(() -> LockSupport.getBlocker(waiter) == strategy && waiter.getState() == Thread.State.TIMED_WAITING);
    }

    private static void await(final BooleanSupplier condition) {
        final long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            assertTrue(System.nanoTime() - startNs < BOUND.toNanos(), "not in time");
            Thread.yield();
        }
    }
}
