package io.ringpoll.internal.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.ringpoll.internal.transport.Liveness.Verdict;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class LivenessTest {
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final Liveness liveness = new Liveness(PeerBounds.DEFAULT.withKeepalive(100, 500), 0);
    private long nowNs;

    private Verdict tick() {
        nowNs += TICK_NS;
        return liveness.tick(nowNs);
    }

    @Test
    void shouldAskOnceAfterTheIntervalAndLoseThePeerAfterTheTimeout() {
        assertEquals(Verdict.ALIVE, tick());
        assertEquals(Verdict.PING, tick());
        // It could not be posted.
        assertEquals(Verdict.PING, tick());
        liveness.onPing();
        for (int silentMs = 200; silentMs < 500; silentMs += 50) {
            assertEquals(Verdict.ALIVE, tick());
        }
        assertEquals(Verdict.LOST, tick());
    }

    @Test
    void shouldStartAgainAfterEachFrame() {
        for (int i = 0; i < 100; i++) {
            assertEquals(Verdict.ALIVE, tick());
            assertEquals(Verdict.PING, tick());
            liveness.onPing();
            liveness.onFrame(FrameKind.PONG);
            assertEquals(Verdict.ALIVE, tick());
        }
    }

    @Test
    void shouldNotAskAgainBeforeTheAnswer() {
        tick();
        tick();
        liveness.onPing();
        liveness.onFrame(FrameKind.CREDIT);
        for (int silentMs = 0; silentMs < 500; silentMs += 50) {
            assertEquals(Verdict.ALIVE, tick());
        }
        assertEquals(Verdict.LOST, tick());
    }

    @Test
    void shouldNotTakeAPauseOfThisSideForSilenceOfThePeer() {
        nowNs += TimeUnit.HOURS.toNanos(1);
        assertEquals(Verdict.PING, liveness.tick(nowNs));
    }

    @Test
    void shouldAskBeforeItLosesAPeerWithATimeoutShorterThanATick() {
        final Liveness impatient = new Liveness(new PeerBounds(1, 2, 1, 0, 1, 1, 1, 1, 1, 1), 0);
        for (long atNs = TICK_NS; atNs < 100 * TICK_NS; atNs += 2 * TICK_NS) {
            assertEquals(Verdict.PING, impatient.tick(atNs));
            impatient.onPing();
            impatient.onFrame(FrameKind.PONG);
            assertEquals(Verdict.ALIVE, impatient.tick(atNs + TICK_NS));
        }
        assertEquals(Verdict.PING, impatient.tick(101 * TICK_NS));
        assertEquals(Verdict.LOST, impatient.tick(102 * TICK_NS));
    }
}
