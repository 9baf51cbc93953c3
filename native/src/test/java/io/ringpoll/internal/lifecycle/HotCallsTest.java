package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.OtherThread;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread at a time makes the calls of a kind, but any thread may. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotCallsTest {
    private static final int CACHE_LINE_BYTES = 64;

    private final HotCalls calls = HotCalls.register();
    private final HotCalls partner = calls.registerPartner();
    private final AtomicInteger inside = new AtomicInteger();
    /** Changed within calls only, without any synchronisation of its own. */
    private long count;

    @AfterEach
    void discard() {
        calls.discard();
        partner.discard();
    }

    @Test
    void shouldKeepTheMarkOfTheThreadThatCalls() {
        final HotMark first = calls.enter();
        first.leave();
        for (int i = 0; i < 100; i++) {
            final HotMark mark = calls.enter();
            mark.leave();
            assertSame(first, mark);
        }
    }

    @Test
    void shouldKeepCacheLinesFreeAroundItsWord() throws NoSuchFieldException {
        final long word = UnsafeApi.objectFieldOffset(HotMarkWord.class.getDeclaredField("word"));
        assertTrue(word >= 2 * CACHE_LINE_BYTES - Long.BYTES, "the word is at " + word);
        long last = 0;
        for (final Field field : HotMark.class.getDeclaredFields()) {
            if (!Modifier.isStatic(field.getModifiers())) {
                last = Math.max(last, UnsafeApi.objectFieldOffset(field) + Long.BYTES);
            }
        }
        assertTrue(last - word >= 2 * CACHE_LINE_BYTES - Long.BYTES, "the mark ends " + (last - word) + " bytes behind it");
    }

    @Test
    void shouldMakeOneCallInSoManyPlain() {
        int plain = 0;
        for (int i = 0; i < 10 * CallTurn.PERIOD; i++) {
            final HotMark mark = calls.enter();
            plain += CallTurn.isPlain(mark.turn()) ? 1 : 0;
            mark.leave();
        }
        assertEquals(10, plain);
    }

    @Test
    void shouldMakeEveryCallPlainOnceThreadsTakeTurns() {
        takeTurns(calls, HotCalls.MAX_HANDOVERS + 2);
        for (int i = 0; i < 10; i++) {
            final HotMark mark = calls.enter();
            assertTrue(CallTurn.isPlain(mark.turn()));
            mark.leave();
        }
    }

    @Test
    void shouldAllocateNothing() {
        Allocation.assertNone(() -> calls.enter().leave());
        takeTurns(calls, HotCalls.MAX_HANDOVERS + 2);
        Allocation.assertNone(() -> calls.enter().leave());
    }

    @Test
    void shouldMoveOwnershipOnlyWhenTheOwnerIsOutside() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> owner = OtherThread.run(() -> {
            final HotMark mark = calls.enter();
            entered.countDown();
            assertTrue(goOn.await(30, TimeUnit.SECONDS));
            count = 1;
            mark.leave();
            return null;
        });
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        final OtherThread<Long> next = OtherThread.run(() -> {
            final HotMark mark = calls.enter();
            final long seen = count;
            mark.leave();
            return seen;
        });
        // Not a proof, but a thread that does not wait has finished by then.
        Thread.sleep(100);
        goOn.countDown();
        owner.result();
        assertEquals(1, next.result());
    }

    @Test
    void shouldLetOneThreadInAtATimeHoweverManyTakeTurns() {
        final int threads = 4;
        final int callsEach = 200_000;
        final List<OtherThread<Void>> others = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            others.add(OtherThread.run(() -> {
                callManyTimes(callsEach);
                return null;
            }));
        }
        others.forEach(OtherThread::result);
        assertEquals((long) threads * callsEach, count);
    }

    @Test
    void shouldLetOneThreadInAtATimeWhileOwnershipMoves() {
        // Few moves each, so that the lock does not dominate; threads make calls while another one waits.
        for (int round = 0; round < 200; round++) {
            final HotCalls moving = HotCalls.register();
            count = 0;
            final List<OtherThread<Void>> others = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                others.add(OtherThread.run(() -> {
                    for (int call = 0; call < 2000; call++) {
                        final HotMark mark = moving.enter();
                        count++;
                        mark.leave();
                    }
                    return null;
                }));
            }
            others.forEach(OtherThread::result);
            moving.discard();
            assertEquals(4000, count, "round " + round);
        }
    }

    @Test
    void shouldSupportVirtualThreads() throws InterruptedException {
        final List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            threads.add(Thread.startVirtualThread(() -> callManyTimes(1000)));
        }
        for (final Thread thread : threads) {
            thread.join();
        }
        assertEquals(50_000, count);
    }

    @Test
    void shouldNotifyBothMarksWhenTwoThreadsCall() {
        assertFalse(isShared(calls));
        assertFalse(isShared(partner));
        final HotMark own = calls.enter();
        own.leave();
        OtherThread.run(() -> {
            assertTrue(isShared(partner));
            return null;
        }).result();
        final HotMark now = calls.enter();
        now.leave();
        assertNotSame(own, now);
        assertTrue(now.isShared());
        // This thread takes both again.
        assertFalse(isShared(partner));
        assertFalse(isShared(calls));
    }

    @Test
    void shouldNotifyMarksOfALockThatItIsShared() {
        assertFalse(isShared(partner));
        takeTurns(calls, HotCalls.MAX_HANDOVERS + 2);
        assertTrue(isShared(partner));
        assertTrue(isShared(calls));
    }

    @Test
    void shouldWaitForACallUnderWayInALock() throws InterruptedException {
        takeTurns(calls, HotCalls.MAX_HANDOVERS + 2);
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> {
            final HotMark mark = calls.enter();
            entered.countDown();
            assertTrue(goOn.await(30, TimeUnit.SECONDS));
            count = 7;
            mark.leave();
            return null;
        });
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        final OtherThread<Long> waiter = OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return count;
        });
        Thread.sleep(50);
        goOn.countDown();
        caller.result();
        assertEquals(7, waiter.result());
    }

    @Test
    void shouldKeepTheInterruptOfAThreadThatWaits() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> {
            final HotMark mark = calls.enter();
            entered.countDown();
            assertTrue(goOn.await(30, TimeUnit.SECONDS));
            mark.leave();
            return null;
        });
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        final OtherThread<Boolean> next = OtherThread.run(() -> {
            Thread.currentThread().interrupt();
            calls.enter().leave();
            return Thread.interrupted();
        });
        final OtherThread<Boolean> closer = OtherThread.run(() -> {
            Thread.currentThread().interrupt();
            HotCalls.awaitQuiescence();
            return Thread.interrupted();
        });
        Thread.sleep(50);
        goOn.countDown();
        caller.result();
        assertTrue(next.result(), "a change of ownership loses an interrupt");
        assertTrue(closer.result(), "a wait for quiescence loses an interrupt");
    }

    @Test
    void shouldCountThoseThatAreNotDiscarded() {
        final int before = HotCalls.registered();
        final HotCalls one = HotCalls.register();
        assertEquals(before + 1, HotCalls.registered());
        one.discard();
        assertEquals(before, HotCalls.registered());
    }

    @Test
    void shouldNotWaitForTheNextCallOfTheSameThread() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch waiting = new CountDownLatch(1);
        final CountDownLatch quiescent = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> {
            final HotMark first = calls.enter();
            entered.countDown();
            assertTrue(waiting.await(30, TimeUnit.SECONDS));
            first.leave();
            // Without delay: the waiting thread must find this call and distinguish it from the previous one.
            final HotMark second = calls.enter();
            final boolean inTime = quiescent.await(30, TimeUnit.SECONDS);
            second.leave();
            assertTrue(inTime, "the wait was for a call that began after it");
            return null;
        });
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        final Thread closer = new Thread(() -> {
            HotCalls.awaitQuiescence();
            quiescent.countDown();
        });
        closer.start();
        while (closer.getState() != Thread.State.TIMED_WAITING) {
            Thread.sleep(1);
        }
        waiting.countDown();
        caller.result();
    }

    @Test
    void shouldGiveUpOnACallThatDoesNotEnd() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> owner = OtherThread.run(() -> {
            final HotMark mark = calls.enter();
            entered.countDown();
            assertTrue(goOn.await(50, TimeUnit.SECONDS));
            mark.leave();
            calls.enter().leave();
            return null;
        });
        assertTrue(entered.await(30, TimeUnit.SECONDS));
        Thread.currentThread().interrupt();
        final IllegalStateException stuck = assertThrows(IllegalStateException.class, calls::enter);
        assertTrue(Thread.interrupted(), "the interrupt is lost");
        assertTrue(stuck.getMessage().startsWith("a call into C has not returned for 10 s"), stuck::getMessage);
        goOn.countDown();
        owner.result();
        calls.enter().leave();
    }

    private void callManyTimes(final int times) {
        for (int i = 0; i < times; i++) {
            final HotMark mark = calls.enter();
            assertEquals(1, inside.incrementAndGet());
            count++;
            inside.decrementAndGet();
            mark.leave();
        }
    }

    private static boolean isShared(final HotCalls some) {
        final HotMark mark = some.enter();
        mark.leave();
        return mark.isShared();
    }

    private static void takeTurns(final HotCalls some, final int times) {
        for (int i = 0; i < times; i++) {
            OtherThread.run(() -> {
                some.enter().leave();
                return null;
            }).result();
        }
    }
}
