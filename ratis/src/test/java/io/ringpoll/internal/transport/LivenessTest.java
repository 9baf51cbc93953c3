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
}
