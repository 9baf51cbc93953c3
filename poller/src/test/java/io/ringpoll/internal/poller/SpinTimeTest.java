package io.ringpoll.internal.poller;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.concurrent.TimeUnit;
import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 10, unit = TimeUnit.SECONDS)
class SpinTimeTest {
    private static final long SHORTEST_NS = 50;
    private static final long LONGEST_NS = 500;

    private final CachedNanoClock clock = new CachedNanoClock();
    private final SpinTime time = new SpinTime(SHORTEST_NS, LONGEST_NS, clock);

    @Test
    void shouldDoubleUpToTheLongestTimeWhileSleepsEndWithinIt() {
        for (final long expectedNs : new long[] {50, 100, 200, 400, LONGEST_NS, LONGEST_NS}) {
            assertEquals(expectedNs, time.ns());
            idle(LONGEST_NS);
        }
    }

    @Test
    void shouldHalveDownToTheShortestTimeWhileSleepsTakeLonger() {
        grow();
        for (final long expectedNs : new long[] {LONGEST_NS, 250, 125, 62, SHORTEST_NS, SHORTEST_NS}) {
            assertEquals(expectedNs, time.ns());
            idle(LONGEST_NS + 1);
        }
    }

    @Test
    void shouldNotChangeWithoutASleep() {
        for (final long idleNs : new long[] {0, LONGEST_NS, LONGEST_NS + 1}) {
            time.onSpin();
            clock.advance(idleNs);
            time.onWork();
            time.onWork();
            assertEquals(SHORTEST_NS, time.ns());
        }
    }

    /** A sleep of 400 ns behind a spin of 500 is not one that a spin could have avoided. */
    @Test
    void shouldCountTheSpinBeforeTheSleep() {
        grow();
        time.onSpin();
        clock.advance(LONGEST_NS);
        time.onSpin();
        time.onSleep();
        clock.advance(400);
        time.onWork();
        assertEquals(LONGEST_NS / 2, time.ns());
    }

    @Test
    void shouldCountFromTheFirstOfSeveralSleeps() {
        grow();
        time.onSleep();
        clock.advance(LONGEST_NS);
        time.onSleep();
        clock.advance(1);
        time.onWork();
        assertEquals(LONGEST_NS / 2, time.ns());
    }

    @Test
    void shouldSpinForTheDefaultShortestTimeFirstUnlessTheLongestIsShorter() {
        assertEquals(SpinTime.SHORTEST_NS, SpinTime.upTo(Long.MAX_VALUE).ns());
        assertEquals(10, SpinTime.upTo(10).ns());
    }

    @Test
    void shouldNeverSpinIfTheLongestTimeIsZero() {
        final SpinTime none = SpinTime.upTo(0);
        for (int i = 0; i < 3; i++) {
            none.onSleep();
            none.onWork();
            assertEquals(0, none.ns());
        }
    }

    @Test
    void shouldNotOverflow() {
        final SpinTime unbounded = SpinTime.upTo(Long.MAX_VALUE);
        for (int i = 0; i < Long.SIZE; i++) {
            unbounded.onSleep();
            unbounded.onWork();
        }
        assertEquals(Long.MAX_VALUE, unbounded.ns());
    }

    private void grow() {
        for (long ns = SHORTEST_NS; ns < LONGEST_NS; ns *= 2) {
            idle(0);
        }
    }

    private void idle(final long idleNs) {
        time.onSleep();
        clock.advance(idleNs);
        time.onWork();
    }
}
