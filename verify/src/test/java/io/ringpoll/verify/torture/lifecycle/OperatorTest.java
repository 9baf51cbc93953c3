package io.ringpoll.verify.torture.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OperatorTest {
    private final AtomicInteger calls = new AtomicInteger();

    @Test
    void shouldRepeatACallThatIsLate() throws TimeoutException {
        Operator.untilInTime(TimeUnit.MINUTES.toNanos(1), () -> lateUntil(3));
        assertEquals(3, calls.get());
    }

    @Test
    void shouldReportALateCallAtOnceWithoutPatience() {
        assertThrows(TimeoutException.class, () -> Operator.untilInTime(0, () -> lateUntil(3)));
        assertEquals(1, calls.get());
    }

    @Test
    void shouldReportACallThatIsAlwaysLate() {
        assertThrows(TimeoutException.class,
            () -> Operator.untilInTime(TimeUnit.MILLISECONDS.toNanos(1), () -> lateUntil(Integer.MAX_VALUE)));
    }

    private void lateUntil(final int success) throws TimeoutException {
        if (calls.incrementAndGet() < success) {
            throw new TimeoutException();
        }
    }
}
