package io.ringpoll.mutation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;

class IntervalTest {
    private static final double ROUNDING = 0.0005;

    @Test
    void shouldAgreeWithThePublishedValues() {
        final Interval interval = Interval.of(81, 263);

        assertEquals(0.2553, interval.low(), ROUNDING);
        assertEquals(0.3662, interval.high(), ROUNDING);
    }

    @Test
    void shouldLeaveRoomBelowASampleWithoutAnySurvivor() {
        final Interval interval = Interval.of(20, 20);

        assertEquals(0.839, interval.low(), ROUNDING);
        assertEquals(1, interval.high(), ROUNDING);
    }

    @Test
    void shouldExcludeNothingWithoutASample() {
        assertEquals(new Interval(0, 1), Interval.of(0, 0));
    }

    @Test
    void shouldContainTheShareInNineteenOfTwentyDraws() {
        final Random random = new Random(1);
        final int draws = 10_000;
        int contained = 0;
        for (int draw = 0; draw < draws; draw++) {
            final long hits = random.doubles(200).filter(number -> number < 0.92).count();
            final Interval interval = Interval.of(hits, 200);
            contained += interval.low() <= 0.92 && 0.92 <= interval.high() ? 1 : 0;
        }

        assertTrue(contained > 0.94 * draws, contained + " of " + draws);
    }
}
