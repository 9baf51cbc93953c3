package io.ringpoll.bench.latency;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.HdrHistogram.Histogram;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class PerftestContestantTest {
    @Test
    void shouldReadTheLatencyOfEachIterationFromPerftestsOutput() {
        final Histogram histogram = PerftestContestant.parse("""
            ---------------------------------------------------------------------------------------
             local address: LID 0000 QPN 0x0013 PSN 0xfaf8a7
             #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
            #, usec
            1, 9.05
            2, 8.657
            3, 20403.2
             64      3          8.66           20403.20       9.05             9.05             0.13
            """);
        assertEquals(3, histogram.getTotalCount());
        assertEquals(9_050, histogram.getValueAtPercentile(50), 10);
        assertEquals(20_403_200, histogram.getMaxValue(), 20_000);
    }
}
