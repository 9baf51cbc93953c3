package io.ringpoll.internal.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.ffm.CallTurn;
import io.ringpoll.testing.OtherThread;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A thread has a lease as long as it alone makes the calls of an open object. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class HotLeaseTest {
    private static final long ADDRESS = 0x1000;

    private final HotCalls calls = HotCalls.register(HotCaller.class);
    /** Changed within calls only, without any synchronisation of its own. */
    private long count;

    @AfterEach
    void discard() {
        calls.discard();
    }

    @Test
    void shouldHaveNoAddressBeforeItIsGranted() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        assertEquals(0, leased.call());
        grant(leased);
        assertEquals(ADDRESS, leased.call());
    }

    @Test
    void shouldCountItsCallsAsThoseOfItsThread() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        grant(leased);
        final int before = HotMark.ofCurrentThread().word();
        int plain = 0;
        for (int i = 0; i < 10 * CallTurn.PERIOD; i++) {
            leased.call();
            plain += CallTurn.isPlain(leased.lastTurn) ? 1 : 0;
        }
        assertEquals(before + 10 * CallTurn.PERIOD, HotMark.ofCurrentThread().word());
        assertEquals(10, plain);
    }

    /** Of a round of two queues, each series begins with an odd turn: none of them is plain by itself. */
    @ParameterizedTest
    @ValueSource(ints = {2, 20, 32})
    void shouldMakeASeriesPlainBeforeAPeriodOfCallsIsOver(final int callsOfSeries) throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        final Table table = new Table(1);
        leased.takePlace(table, 0);
        grant(leased);
        final HotMark mark = HotMark.ofCurrentThread();
        mark.leave(CallTurn.PERIOD + 1 - mark.word() % CallTurn.PERIOD);
        int sinceLast = 0;
        for (int i = 0; i < 10 * CallTurn.PERIOD; i++) {
            sinceLast = CallTurn.isPlain(table.series(callsOfSeries)) ? 0 : sinceLast + callsOfSeries;
            assertTrue(sinceLast < CallTurn.PERIOD, sinceLast + " calls without a plain one");
        }
    }

    @Test
    void shouldMakePlainCallsAlsoIfNoCallOfASeriesIsMade() {
        final Table table = new Table(1);
        int plain = 0;
        for (int i = 0; i < 10 * CallTurn.PERIOD; i++) {
            plain += CallTurn.isPlain(table.seriesWithoutCalls()) ? 1 : 0;
        }
        assertEquals(10, plain);
    }

    @Test
    void shouldEndWhenAnotherThreadCalls() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        grant(leased);
        OtherThread.run(() -> HotCaller.call(calls, mark -> mark)).result();
        assertEquals(0, leased.call());
    }

    @Test
    void shouldEndWhenAThreadWaitsForQuiescence() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        grant(leased);
        OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return null;
        }).result();
        assertEquals(0, leased.call());
    }

    @Test
    void shouldEndWhenAnotherOneIsGranted() throws InterruptedException {
        final Leased first = new Leased(() -> ADDRESS);
        final Leased second = new Leased(() -> ADDRESS);
        grant(first);
        grant(second);
        assertEquals(0, first.call());
        assertEquals(ADDRESS, second.call());
    }

    @Test
    void shouldNotBeGrantedWithinALock() throws InterruptedException {
        while (!HotCaller.call(calls, HotMark::isLock)) {
            OtherThread.run(() -> HotCaller.call(calls, mark -> mark)).result();
        }
        final Leased leased = new Leased(() -> ADDRESS);
        grant(leased);
        assertEquals(0, leased.call());
    }

    @Test
    void shouldEndIfTheAddressIsTakenAwayWhileItIsGranted() throws InterruptedException {
        final Leased leased = new Leased(new LongSupplier() {
            private boolean closed;

            @Override
            public long getAsLong() {
                final long address = closed ? 0 : ADDRESS;
                closed = true;
                return address;
            }
        });
        grant(leased);
        assertEquals(0, leased.call());
    }

    @Test
    void shouldEndIfAnotherThreadTakesTheOwnershipWhileItIsGranted() throws InterruptedException {
        final CountDownLatch started = new CountDownLatch(1);
        final Leased leased = new Leased(() -> {
            if (started.getCount() > 0) {
                started.countDown();
                // In the middle of the change of ownership it waits for this thread's call.
                OtherThread.run(() -> HotCaller.call(calls, mark -> mark)).requireParkedForATime();
            }
            return ADDRESS;
        });
        grant(leased);
        assertEquals(0, leased.call());
    }

    @Test
    void shouldBeWaitedForDuringACall() throws InterruptedException {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> {
            final Leased leased = new Leased(() -> ADDRESS);
            grant(leased);
            leased.call(() -> {
                inside.countDown();
                assertEquals(true, goOn.await(30, TimeUnit.SECONDS));
                count = 1;
            });
            return null;
        });
        inside.await();
        final OtherThread<Long> closer = OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return count;
        });
        final OtherThread<Long> next = OtherThread.run(() -> HotCaller.call(calls, mark -> count));
        // Not a proof, but threads that do not wait have ended by then.
        Thread.sleep(100);
        goOn.countDown();
        caller.result();
        assertEquals(1, closer.result());
        assertEquals(1, next.result());
    }

    @Test
    void shouldHaveItsAddressInATableToo() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        final Table table = new Table(2);
        leased.takePlace(table, 1);
        assertEquals(0, table.call(1));
        grant(leased);
        assertEquals(ADDRESS, table.call(1));
        assertEquals(0, table.call(0));
        final int before = HotMark.ofCurrentThread().word();
        table.call(1);
        assertEquals(before + 1, HotMark.ofCurrentThread().word());
    }

    @Test
    void shouldEndInATableWhenAnotherThreadCallsOrWaitsForQuiescence() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        final Table table = new Table(1);
        leased.takePlace(table, 0);
        grant(leased);
        OtherThread.run(() -> HotCaller.call(calls, mark -> mark)).result();
        assertEquals(0, table.call(0));
        grant(leased);
        assertEquals(ADDRESS, table.call(0));
        OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return null;
        }).result();
        assertEquals(0, table.call(0));
    }

    @Test
    void shouldEndWhenItIsMovedAndAtItsFormerPlaceAsWell() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        final Table table = new Table(2);
        leased.takePlace(table, 0);
        grant(leased);
        leased.takePlace(table, 1);
        assertEquals(List.of(0L, 0L, 0L), List.of(leased.call(), table.call(0), table.call(1)));
        grant(leased);
        assertEquals(List.of(ADDRESS, 0L, ADDRESS), List.of(leased.call(), table.call(0), table.call(1)));
        leased.takePlace(null, 0);
        grant(leased);
        assertEquals(List.of(ADDRESS, 0L, 0L), List.of(leased.call(), table.call(0), table.call(1)));
    }

    @Test
    void shouldBeGrantedAgainInATableThatHasGrown() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        final Table table = new Table(1);
        leased.takePlace(table, 0);
        grant(leased);
        table.makeRoom(2);
        leased.takePlace(table, 0);
        assertEquals(0, table.call(0));
        grant(leased);
        assertEquals(ADDRESS, table.call(0));
    }

    @Test
    void shouldBeWaitedForDuringACallByATable() throws InterruptedException {
        final CountDownLatch inside = new CountDownLatch(1);
        final CountDownLatch goOn = new CountDownLatch(1);
        final OtherThread<Void> caller = OtherThread.run(() -> {
            final Leased leased = new Leased(() -> ADDRESS);
            final Table table = new Table(1);
            leased.takePlace(table, 0);
            grant(leased);
            table.call(0, () -> {
                inside.countDown();
                assertEquals(true, goOn.await(30, TimeUnit.SECONDS));
                count = 1;
            });
            return null;
        });
        inside.await();
        final OtherThread<Long> closer = OtherThread.run(() -> {
            HotCalls.awaitQuiescence();
            return count;
        });
        closer.requireParkedForATime();
        goOn.countDown();
        caller.result();
        assertEquals(1, closer.result());
    }

    @Test
    void shouldCountEachCallThatEndsWithOthers() throws InterruptedException {
        final Table table = new Table(4);
        for (int place = 0; place < 3; place++) {
            table.grant(place, ADDRESS, HotMark.ofCurrentThread());
        }
        final int before = HotMark.ofCurrentThread().word();
        table.callEach(4, () -> assertEquals(before, HotMark.ofCurrentThread().word()));
        assertEquals(before + 3, HotMark.ofCurrentThread().word());
    }

    @Test
    void shouldNeverBeUsedByTwoThreadsAtATime() {
        final int callsEach = 200_000;
        final OtherThread<Void> first = OtherThread.run(() -> countCalls(callsEach));
        final OtherThread<Void> second = OtherThread.run(() -> countCalls(callsEach));
        first.result();
        second.result();
        assertEquals(2L * callsEach, count);
    }

    @Test
    void shouldRefuseAnotherThreadWhenAssertionsAreEnabled() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        grant(leased);
        OtherThread.run(() -> assertThrows(AssertionError.class, leased::call)).result();
    }

    @Test
    void shouldGiveNoAddressToAThreadThatHasNotTheLease() throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        grant(leased);
        assertEquals(0, OtherThread.run(leased::callByAnyThread).result());
        assertEquals(ADDRESS, leased.callByAnyThread());
    }

    private Void countCalls(final int times) throws InterruptedException {
        final Leased leased = new Leased(() -> ADDRESS);
        for (int i = 0; i < times; i++) {
            if (leased.call(() -> count++) == 0) {
                HotCaller.call(calls, mark -> {
                    calls.lease(leased);
                    return count++;
                });
            }
        }
        return null;
    }

    private void grant(final HotLease lease) throws InterruptedException {
        HotCaller.call(calls, mark -> {
            calls.lease(lease);
            return null;
        });
    }

    /** The work within a call. */
    @FunctionalInterface
    private interface Body {
        void run() throws InterruptedException;
    }

    /** Makes calls as a queue does. */
    private static final class Leased extends HotLease {
        private final LongSupplier address;
        private int lastTurn;

        Leased(final LongSupplier address) {
            super(Leased.class);
            this.address = address;
        }

        @Override
        protected long leasable() {
            return address.getAsLong();
        }

        /** Returns the address of the call; 0 if none was made. */
        @HotCall
        long callByAnyThread() {
            final long leased = enterLeasedByCaller();
            if (leased != 0) {
                leave();
            }
            return leased;
        }

        long call() throws InterruptedException {
            return call(() -> { });
        }

        /** Returns the address of the call; 0 if none was made. */
        @HotCall
        long call(final Body body) throws InterruptedException {
            final long leased = enterLeased();
            if (leased != 0) {
                lastTurn = turn();
                body.run();
                leave();
            }
            return leased;
        }
    }

    /** Makes calls by place, as a poller does. */
    private static final class Table extends LeaseTable {
        Table(final int places) {
            super(Table.class);
            makeRoom(places);
        }

        long call(final int place) throws InterruptedException {
            return call(place, () -> { });
        }

        /** Returns the address of the call; 0 if none was made. */
        @HotCall
        long call(final int place, final Body body) throws InterruptedException {
            final long leased = enterLeased(place);
            if (leased != 0) {
                body.run();
                leave(1);
            }
            return leased;
        }

        /** Returns the turn of a series that makes all its calls. */
        @HotCall
        int series(final int calls) {
            final int turn = enterLeasedSeries(calls);
            leave(calls);
            return turn;
        }

        /** Returns the turn of a series that finds no address. */
        @HotCall
        int seriesWithoutCalls() {
            final int turn = enterLeasedSeries(1);
            leaveUnpolled();
            return turn;
        }

        /** Makes a call for each of some places with an address, and ends them all at once. */
        @HotCall
        void callEach(final int places, final Body body) throws InterruptedException {
            int calls = 0;
            while (calls < places && enterLeased(calls) != 0) {
                calls++;
            }
            body.run();
            leave(calls);
        }
    }
}
