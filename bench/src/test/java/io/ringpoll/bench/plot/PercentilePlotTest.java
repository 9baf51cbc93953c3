package io.ringpoll.bench.plot;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class PercentilePlotTest {
    @Test
    void shouldSpaceNinesEvenlyOnTheAxis() {
        assertEquals(0, PercentilePlot.nines(0), 1e-9);
        assertEquals(1, PercentilePlot.nines(90), 1e-9);
        assertEquals(2, PercentilePlot.nines(99), 1e-9);
        assertEquals(4, PercentilePlot.nines(99.99), 1e-9);
    }

    @Test
    void shouldWritePercentilesAtWholeNinesOnly() {
        assertEquals("0", PercentilePlot.percentile(0));
        assertEquals("90", PercentilePlot.percentile(1));
        assertEquals("99.999", PercentilePlot.percentile(5));
        assertEquals("", PercentilePlot.percentile(1.5));
    }
}
