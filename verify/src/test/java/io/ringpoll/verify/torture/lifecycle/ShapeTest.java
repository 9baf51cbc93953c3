package io.ringpoll.verify.torture.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.pipeline.WaitMode;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ShapeTest {
    @Test
    void shouldDrawTheSameShapeFromTheSameSeedAndAllKindsFromAFew() {
        LongStream.range(0, 100).forEach(seed -> assertEquals(shape(seed), shape(seed)));
        for (final WaitMode idle : WaitMode.values()) {
            assertTrue(LongStream.range(0, 100).anyMatch(seed -> shape(seed).idle() == idle), idle::toString);
        }
        for (final Shape.Hook hook : Shape.Hook.values()) {
            assertTrue(LongStream.range(0, 200).anyMatch(seed -> shape(seed).hook() == hook), hook::toString);
        }
    }

    private static Shape shape(final long seed) {
        return Shape.draw(new SplittableRandom(seed), true);
    }
}
