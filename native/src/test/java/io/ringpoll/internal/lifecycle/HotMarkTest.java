package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.OtherThread;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The word of a mark: it counts calls, and that of a lock shows whether one is under way. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotMarkTest {
    @Test
    void shouldCountTheCallsOfItsOwner() {
        final HotMark mark = HotMark.ofCurrentThread();
        final int first = mark.turn();
        for (int call = 1; call <= CallTurn.PERIOD; call++) {
            mark.leave();
            assertEquals(first + call, mark.turn());
        }
        assertSame(mark, HotMark.ofCurrentThread());
        assertFalse(mark.isInside(), "a thread that asks is in no call");
    }

    @Test
    void shouldMakeEachCallOfALockPlain() {
        final HotMark lock = HotMark.lock();
        for (int call = 0; call < 3; call++) {
            lock.enterLock();
            assertTrue(CallTurn.isPlain(lock.turn()), "call " + call + " has turn " + lock.turn());
            lock.leave();
        }
    }

    @Test
    void shouldShowTheCallThatIsUnderWayInALock() {
        final HotMark lock = HotMark.lock();
        assertFalse(lock.isInside());
        lock.enterLock();
        assertTrue(lock.isInside());
        final int call = lock.word();
        lock.leave();
        assertFalse(lock.isInside());
        lock.enterLock();
        assertTrue(lock.isInside());
        assertTrue(lock.word() != call, "the next call looks like the last");
        lock.leave();
    }

    @Test
    void shouldLetOneThreadIntoALock() {
        final HotMark lock = HotMark.lock();
        lock.enterLock();
        final int call = lock.word();
        final OtherThread<Void> other = OtherThread.run(() -> {
            lock.enterLock();
            lock.leave();
            return null;
        });
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(50)) {
            assertEquals(call, lock.word());
            Thread.yield();
        }
        lock.leave();
        other.result();
        assertTrue(lock.word() != call);
    }

    @Test
    void shouldBelongToAThreadOrToAll() {
        final Thread thread = Thread.currentThread();
        final HotMark own = HotMark.ofCurrentThread();
        assertTrue(own.isOwnedBy(thread));
        assertSame(thread, own.owner());
        assertFalse(own.isOwnedBy(new Thread(() -> { })));
        assertFalse(own.isLock());
        assertTrue(HotMark.lock().isLock());
        assertFalse(HotMark.NOBODY.isLock());
        assertFalse(HotMark.NOBODY.isInside());
        assertFalse(HotMark.NOBODY.isOwnedBy(thread));
    }
}
