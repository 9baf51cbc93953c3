package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.OtherThread;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A wait for a call has a limit of 10 s, which begins anew when a call ends. The tests wait, so they run beside each other. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotCallLimitsTest {
    private final HotCalls calls = HotCalls.register(HotCaller.class);

    @AfterEach
    void discard() {
        calls.discard();
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldWaitForALockAsLongAsItsCallsEnd() {
        final HotMark lock = HotMark.lock();
        lock.enterLock();
        final OtherThread<Void> waiting = OtherThread.run(() -> {
            lock.enterLock();
            lock.leave();
            return null;
        });
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(11)) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
            // A call ends and the next one begins, faster than the waiting thread looks.
            lock.word += CallTurn.PERIOD;
        }
        lock.leave();
        waiting.result();
    }

    @Test
    @Execution(ExecutionMode.CONCURRENT)
    void shouldGiveUpOnACallThatDoesNotEnd() throws InterruptedException {
        final StuckCall owner = new StuckCall(calls, () -> { });
        Thread.currentThread().interrupt();
        final IllegalStateException stuck = assertThrows(IllegalStateException.class, () -> HotCaller.call(calls));
        assertTrue(Thread.interrupted(), "the interrupt is lost");
        assertTrue(stuck.getMessage().startsWith("a call into C has not returned for 10 s"), stuck::getMessage);
        owner.end();
        HotCaller.call(calls);
    }
}
