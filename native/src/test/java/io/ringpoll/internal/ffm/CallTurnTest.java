package io.ringpoll.internal.ffm;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of each period of calls one is plain, also if C makes several calls in one. */
@Timeout(10)
class CallTurnTest {
    @Test
    void shouldMakeOneCallOfAPeriodPlain() {
        int plain = 0;
        for (int turn = Integer.MAX_VALUE - 5 * CallTurn.PERIOD + 1; turn != Integer.MIN_VALUE + 5 * CallTurn.PERIOD; turn++) {
            plain += CallTurn.isPlain(turn) ? 1 : 0;
        }
        assertEquals(10, plain);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 20, 32, CallTurn.PERIOD - 1})
    void shouldMakeASeriesPlainOnceInAPeriodOfItsCalls(final int calls) {
        int sinceLast = 0;
        for (int turn = Integer.MAX_VALUE - 100 * CallTurn.PERIOD, series = 0; series < 200 * CallTurn.PERIOD / calls; series++) {
            sinceLast = CallTurn.isPlain(CallTurn.ofSeries(turn, calls)) ? 0 : sinceLast + calls;
            assertTrue(sinceLast < CallTurn.PERIOD, "no plain call for " + sinceLast + " calls");
            turn += calls;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 32})
    void shouldMakeFewSeriesPlain(final int calls) {
        int plain = 0;
        int turn = 1;
        while (turn < 100 * CallTurn.PERIOD) {
            plain += CallTurn.isPlain(CallTurn.ofSeries(turn, calls)) ? 1 : 0;
            turn += calls;
        }
        assertTrue(plain >= 99 && plain <= 100, plain + " plain series");
    }
}
