package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.OtherThread;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The word of a mark: it counts the calls, and shows whether one is under way. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotMarkTest {
    private static final int PERIOD = CallTurn.PERIOD;

    @Test
    void shouldCountTheCallsOfItsOwner() {
        final HotMark mark = HotMark.of(Thread.currentThread(), false);
        mark.enter();
        final int first = mark.turn();
        mark.leave();
        for (int call = 1; call <= PERIOD; call++) {
            mark.enter();
            assertEquals(first + call, mark.turn());
            mark.leave();
        }
        assertNotEquals(HotMark.of(Thread.currentThread(), false).turn() % PERIOD,
            HotMark.of(Thread.currentThread(), false).turn() % PERIOD, "marks make their plain calls in one pass");
    }

    @Test
    void shouldMakeEachCallOfALockPlain() {
        final HotMark lock = HotMark.lock(false);
        for (int call = 0; call < 3; call++) {
            lock.enterLock();
            assertTrue(CallTurn.isPlain(lock.turn()), "call " + call + " has turn " + lock.turn());
            lock.leave();
        }
    }

    @Test
    void shouldShowTheCallThatIsUnderWay() {
        for (final HotMark mark : new HotMark[] {HotMark.of(Thread.currentThread(), false), HotMark.lock(false)}) {
            assertTrue(mark.hasChanged(mark.word()), "no call is under way");
            enter(mark);
            final int first = mark.word();
            assertFalse(mark.hasChanged(first));
            mark.leave();
            assertTrue(mark.hasChanged(first), "the call has ended");
            assertTrue(mark.hasChanged(mark.word()), "no call is under way");
            enter(mark);
            assertTrue(mark.hasChanged(first), "this is the next call");
            assertFalse(mark.hasChanged(mark.word()));
            mark.leave();
        }
    }

    @Test
    void shouldLetOneThreadIntoALock() {
        final HotMark lock = HotMark.lock(true);
        lock.enterLock();
        final int call = lock.word();
        final OtherThread<Void> other = OtherThread.run(() -> {
            lock.enterLock();
            lock.leave();
            return null;
        });
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < TimeUnit.MILLISECONDS.toNanos(50)) {
            assertFalse(lock.hasChanged(call));
            Thread.yield();
        }
        lock.leave();
        other.result();
        assertTrue(lock.hasChanged(call));
    }

    @Test
    void shouldBelongToAThreadOrToAll() {
        final Thread thread = Thread.currentThread();
        final HotMark own = HotMark.of(thread, true);
        assertTrue(own.isOwnedBy(thread));
        assertSame(thread, own.owner());
        assertFalse(own.isOwnedBy(new Thread(() -> { })));
        assertFalse(own.isLock());
        assertTrue(own.isShared());
        assertFalse(HotMark.of(thread, false).isShared());
        assertTrue(HotMark.lock(true).isLock());
        assertTrue(HotMark.lock(true).isShared());
        assertFalse(HotMark.lock(false).isShared());
        assertFalse(HotMark.NOBODY.isLock());
        assertFalse(HotMark.NOBODY.isOwnedBy(thread));
    }

    private static void enter(final HotMark mark) {
        if (mark.isLock()) {
            mark.enterLock();
        } else {
            mark.enter();
        }
    }
}
