package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.Allocation;
import io.ringpoll.testing.OtherThread;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread at a time makes the calls of a kind, but any thread may. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotCallsTest {
    private static final int CACHE_LINE_BYTES = 64;
    private static final int MANY = 100_000;

    private final HotCalls calls = HotCalls.register(HotCaller.class);
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
    void shouldHaveOneMarkForEachThread() throws InterruptedException {
        final HotMark first = HotCaller.call(calls, mark -> mark);
        for (int i = 0; i < 100; i++) {
            assertSame(first, HotCaller.call(calls, mark -> mark));
            assertSame(first, HotCaller.call(partner, mark -> mark));
        }
        assertNotSame(first, OtherThread.run(() -> HotCaller.call(calls, mark -> mark)).result());
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
    void shouldMakeOneCallInSoManyPlain() throws InterruptedException {
        int plain = 0;
        for (int i = 0; i < 10 * CallTurn.PERIOD; i++) {
            plain += HotCaller.call(i % 3 == 0 ? partner : calls, mark -> CallTurn.isPlain(mark.turn())) ? 1 : 0;
        }
        assertEquals(10, plain);
    }

    @Test
    void shouldMakeEveryCallPlainOnceThreadsTakeTurns() throws InterruptedException {
        takeTurnsOften(calls);
        for (int i = 0; i < 10; i++) {
            assertEquals(true, HotCaller.call(calls, mark -> CallTurn.isPlain(mark.turn())));
        }
    }

    @Test
    void shouldHaveAnOwnerHoweverManyThreadsCallOneAfterTheOther() throws InterruptedException {
        for (int i = 0; i < 3 * HandoverAllowance.BURST; i++) {
            assertFalse(OtherThread.run(() -> HotCaller.call(calls, HotMark::isLock)).result());
        }
        assertFalse(HotCaller.call(calls, HotMark::isLock));
    }

    @Test
    void shouldAllocateNothing() throws InterruptedException {
        Allocation.assertNone(() -> HotCaller.call(calls));
        takeTurnsOften(calls);
        Allocation.assertNone(() -> HotCaller.call(calls));
    }

    @Test
    void shouldTakeOverCallsOfNobodyWithoutAllocation() {
        final List<HotCalls> free = registerMany();
        final Iterator<HotCalls> next = free.iterator();
        Allocation.assertNone(() -> HotCaller.call(nextOf(next)));
        free.forEach(HotCalls::discard);
    }

    @Test
    void shouldTakeOverCallsOfAnEndedThreadWithoutAllocation() throws InterruptedException {
        final List<HotCalls> orphans = registerMany();
        final Thread last = new Thread(() -> orphans.forEach(HotCaller::call));
        last.start();
        last.join();
        final Iterator<HotCalls> next = orphans.iterator();
        Allocation.assertNone(() -> HotCaller.call(nextOf(next)));
        orphans.forEach(HotCalls::discard);
    }

    @Test
    void shouldLookAtTheClassOfAThreadWithoutAllocation() {
        final Thread other = new Thread(() -> { });
        Allocation.assertNone(() -> assertTrue(HotFrames.canObserve(other)));
    }

    @Test
    void shouldMoveOwnershipOnlyWhenTheOwnerIsOutside() throws InterruptedException {
        final StuckCall owner = new StuckCall(calls, () -> count = 1);
        final OtherThread<Long> next = OtherThread.run(() -> HotCaller.call(calls, mark -> count));
        // Not a proof, but a thread that does not wait has finished by then.
        Thread.sleep(100);
        owner.end();
        assertEquals(1, next.result());
    }

    @Test
    void shouldWaitForACallThatBeganBeforeItsAddressWasTakenAway() throws InterruptedException {
        final StuckCall owner = new StuckCall(calls, () -> count = 1);
        final OtherThread<Long> closer = OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return count;
        });
        Thread.sleep(100);
        owner.end();
        assertEquals(1, closer.result());
    }

    @Test
    void shouldLetOneThreadInAtATimeHoweverManyTakeTurns() {
        final int threads = 4;
        final int callsEach = 200_000;
        final List<OtherThread<Void>> others = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            others.add(OtherThread.run(() -> {
                callManyTimes(calls, callsEach);
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
            final HotCalls moving = HotCalls.register(HotCaller.class);
            count = 0;
            final List<OtherThread<Void>> others = new ArrayList<>();
            for (int i = 0; i < 2; i++) {
                others.add(OtherThread.run(() -> {
                    callManyTimes(moving, 2000);
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
            threads.add(Thread.startVirtualThread(() -> callManyTimes(calls, 1000)));
        }
        for (final Thread thread : threads) {
            thread.join();
        }
        assertEquals(50_000, count);
    }

    @Test
    void shouldNotifyBothWhenTwoThreadsCall() throws InterruptedException {
        assertFalse(isShared(calls));
        assertFalse(isShared(partner));
        OtherThread.run(() -> {
            assertTrue(isShared(partner));
            return null;
        }).result();
        assertTrue(isShared(calls));
        // This thread takes both again.
        assertFalse(isShared(partner));
        assertFalse(isShared(calls));
    }

    @Test
    void shouldNotifyBothOfALock() throws InterruptedException {
        assertFalse(isShared(partner));
        takeTurnsOften(calls);
        assertTrue(isShared(partner));
        assertTrue(isShared(calls));
    }

    @Test
    void shouldWaitForACallUnderWayInALock() throws InterruptedException {
        takeTurnsOften(calls);
        final StuckCall caller = new StuckCall(calls, () -> count = 7);
        final OtherThread<Long> waiter = OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return count;
        });
        Thread.sleep(50);
        caller.end();
        assertEquals(7, waiter.result());
    }

    @Test
    void shouldNotWaitForAThreadThatWaitsToEnter() throws InterruptedException {
        final HotCalls lock = HotCalls.register(HotCaller.class);
        takeTurnsOften(lock);
        for (final HotCalls busy : List.of(calls, lock)) {
            final HotCalls own = HotCalls.register(HotCaller.class);
            final StuckCall stuck = new StuckCall(busy, () -> { });
            final CountDownLatch owns = new CountDownLatch(1);
            final OtherThread<Void> waiting = OtherThread.run(() -> {
                HotCaller.call(own);
                owns.countDown();
                HotCaller.call(busy);
                return null;
            });
            assertTrue(owns.await(30, TimeUnit.SECONDS));
            Thread.sleep(50);
            HotCaller.call(own);
            stuck.end();
            waiting.result();
            own.discard();
        }
        lock.discard();
    }

    @Test
    void shouldNotWaitForLaterCallsOfAThreadThatIsAlwaysInsideALock() throws InterruptedException {
        takeTurnsOften(calls);
        final AtomicBoolean end = new AtomicBoolean();
        final CountDownLatch owns = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> {
            HotCaller.call(HotCalls.register(HotCaller.class));
            while (!end.get()) {
                HotCaller.call(calls, mark -> {
                    owns.countDown();
                    Thread.sleep(20);
                    return null;
                });
            }
            return null;
        });
        assertTrue(owns.await(30, TimeUnit.SECONDS));
        for (int i = 0; i < 20; i++) {
            HotCalls.awaitQuiescence();
        }
        end.set(true);
        caller.result();
    }

    @Test
    void shouldGiveALockToAThreadWhoseStackIsHidden() throws InterruptedException {
        final AtomicReference<HotMark> entered = new AtomicReference<>();
        final Thread hidden = new Thread("hidden") {
            @Override
            public void run() {
                try {
                    entered.set(HotCaller.call(calls, mark -> mark));
                } catch (final InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            }

            @Override
            public StackTraceElement[] getStackTrace() {
                return new StackTraceElement[0];
            }
        };
        hidden.start();
        hidden.join(TimeUnit.SECONDS.toMillis(30));
        assertTrue(entered.get().isLock());
    }

    @Test
    void shouldKeepTheInterruptOfAThreadThatWaits() throws InterruptedException {
        final StuckCall caller = new StuckCall(calls, () -> { });
        final OtherThread<Boolean> next = OtherThread.run(() -> {
            Thread.currentThread().interrupt();
            HotCaller.call(calls);
            return Thread.interrupted();
        });
        final OtherThread<Boolean> closer = OtherThread.run(() -> {
            Thread.currentThread().interrupt();
            HotCalls.awaitQuiescence();
            return Thread.interrupted();
        });
        Thread.sleep(50);
        caller.end();
        assertTrue(next.result(), "a change of ownership loses an interrupt");
        assertTrue(closer.result(), "a wait for quiescence loses an interrupt");
    }

    @Test
    void shouldCountThoseThatAreNotDiscarded() {
        final int before = HotCalls.registered();
        final HotCalls one = HotCalls.register(HotCaller.class);
        assertEquals(before + 1, HotCalls.registered());
        one.discard();
        assertEquals(before, HotCalls.registered());
    }

    @Test
    void shouldNotWaitForTheNextCallOfTheSameThread() throws InterruptedException {
        final CountDownLatch entered = new CountDownLatch(1);
        final CountDownLatch waiting = new CountDownLatch(1);
        final CountDownLatch quiescent = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> callTwice(entered, waiting, quiescent));
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
    void shouldNotWaitForLaterCallsOfAThreadWhileItWaitsForAnother() throws InterruptedException {
        final HotCalls other = HotCalls.register(HotCaller.class);
        // In both orders, as the order in which threads are waited for is undefined.
        for (final boolean otherFirst : List.of(true, false)) {
            final AtomicBoolean quiescent = new AtomicBoolean();
            final TwoCalls one = new TwoCalls(calls, quiescent);
            final TwoCalls two = new TwoCalls(other, quiescent);
            final Thread closer = new Thread(() -> {
                HotCalls.awaitQuiescence();
                quiescent.set(true);
            });
            closer.start();
            while (closer.getState() != Thread.State.TIMED_WAITING) {
                Thread.sleep(1);
            }
            (otherFirst ? two : one).beginSecond();
            (otherFirst ? one : two).beginSecond();
            one.await();
            two.await();
            closer.join();
        }
        other.discard();
    }

    @Test
    void shouldLetAThreadInThatHasWaitedForLongBeforeOthersEnterAgain() throws InterruptedException {
        final HotMark lock = HotMark.lock();
        lock.enterLock();
        final AtomicBoolean entered = new AtomicBoolean();
        final OtherThread<Void> waiting = OtherThread.run(() -> {
            lock.enterLock();
            entered.set(true);
            lock.leave();
            return null;
        });
        while (!lock.hasNext()) {
            Thread.sleep(1);
        }
        lock.leave();
        lock.enterLock();
        assertTrue(entered.get(), "a thread that left entered again before one that has waited");
        lock.leave();
        waiting.result();
        assertFalse(lock.hasNext());
    }

    @Test
    void shouldPassOverAThreadThatDoesNotEnterALockInItsTurn() throws InterruptedException {
        final HotMark lock = HotMark.lock();
        lock.enterLock();
        final Thread absent = new Thread(() -> { });
        lock.putNext(absent);
        lock.leave();
        assertNull(OtherThread.run(() -> {
            lock.enterLock();
            lock.leave();
            return null;
        }).result());
        assertFalse(lock.hasNext());
    }

    @Test
    void shouldReleaseALockWhoseHolderHasEndedItsCallWithoutLeaving() throws InterruptedException {
        takeTurnsOften(calls);
        HotFrames.register(HotCallsTest.class);
        final CountDownLatch lost = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> other = OtherThread.run(() -> {
            loseTheMark();
            lost.countDown();
            assertTrue(goOn.await(30, TimeUnit.SECONDS));
            return null;
        });
        assertTrue(lost.await(30, TimeUnit.SECONDS));
        HotCalls.awaitQuiescence();
        HotCaller.call(calls);
        loseTheMark();
        HotCaller.call(calls);
        goOn.countDown();
        other.result();
    }

    @Test
    void shouldNotReleaseALockDuringALongCall() throws InterruptedException {
        takeTurnsOften(calls);
        final StuckCall stuck = new StuckCall(calls, () -> count = 7);
        final OtherThread<Long> next = OtherThread.run(() -> HotCaller.call(calls, mark -> count));
        Thread.sleep(500);
        stuck.end();
        assertEquals(7, next.result());
    }

    /** As a method does that a stack overflow ends. */
    @HotCall
    private void loseTheMark() {
        calls.enter();
    }

    /** The second call follows without delay: a waiting thread must distinguish it from the first. */
    @HotCall
    private Void callTwice(final CountDownLatch entered, final CountDownLatch waiting, final CountDownLatch quiescent)
        throws InterruptedException {
        HotFrames.register(HotCallsTest.class);
        final HotMark first = calls.enter();
        entered.countDown();
        assertTrue(waiting.await(30, TimeUnit.SECONDS));
        first.leave();
        final HotMark second = calls.enter();
        final boolean inTime = quiescent.await(30, TimeUnit.SECONDS);
        second.leave();
        assertTrue(inTime, "the wait was for a call that began after it");
        return null;
    }

    /** Instances without an owner, more than are taken over if a take-over allocates nothing. */
    private static List<HotCalls> registerMany() {
        return Stream.generate(() -> HotCalls.register(HotCaller.class)).limit(MANY).toList();
    }

    /** The next instance to be taken over, which this thread does not own. */
    private static HotCalls nextOf(final Iterator<HotCalls> instances) {
        assertTrue(instances.hasNext(), MANY + " take-overs, and each round of them has allocated");
        return instances.next();
    }

    private void callManyTimes(final HotCalls some, final int times) {
        try {
            for (int i = 0; i < times; i++) {
                HotCaller.call(some, mark -> {
                    assertEquals(1, inside.incrementAndGet());
                    count++;
                    return inside.decrementAndGet();
                });
            }
        } catch (final InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isShared(final HotCalls some) throws InterruptedException {
        return HotCaller.call(some, mark -> some.isShared());
    }

    /** Other threads and this one, which lives on, make calls in turns until they have a lock. */
    private static void takeTurnsOften(final HotCalls some) throws InterruptedException {
        while (!HotCaller.call(some, HotMark::isLock)) {
            OtherThread.run(() -> {
                HotCaller.call(some);
                return null;
            }).result();
        }
    }

    /** Two calls of a thread, of which the second does not end before others are quiescent. */
    private static final class TwoCalls {
        private final CountDownLatch goOn = new CountDownLatch(1);
        private final CountDownLatch inSecond = new CountDownLatch(1);
        private final OtherThread<Void> caller;

        TwoCalls(final HotCalls calls, final AtomicBoolean quiescent) throws InterruptedException {
            final CountDownLatch inFirst = new CountDownLatch(1);
            caller = OtherThread.run(() -> {
                HotCaller.call(calls, mark -> {
                    inFirst.countDown();
                    return goOn.await(50, TimeUnit.SECONDS);
                });
                return HotCaller.call(calls, mark -> {
                    inSecond.countDown();
                    final long startNs = System.nanoTime();
                    while (!quiescent.get()) {
                        assertTrue(System.nanoTime() - startNs < TimeUnit.SECONDS.toNanos(8), "the wait was for a later call");
                        Thread.sleep(1);
                    }
                    return null;
                });
            });
            assertTrue(inFirst.await(30, TimeUnit.SECONDS));
        }

        void beginSecond() throws InterruptedException {
            goOn.countDown();
            assertTrue(inSecond.await(30, TimeUnit.SECONDS));
        }

        void await() {
            caller.result();
        }
    }
}
