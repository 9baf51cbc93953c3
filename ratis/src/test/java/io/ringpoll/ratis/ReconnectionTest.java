package io.ringpoll.ratis;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.internal.transport.Warnings;
import java.io.IOException;
import java.net.ConnectException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ReconnectionTest {
    private static final IOException REASON = new IOException("on purpose");
    private static final RaftPeerId PEER = RaftPeerId.valueOf("s1");

    private final Reconnection reconnection = new Reconnection(10, 50);

    @Test
    void shouldDoubleTheDelayUpToTheMaximum() {
        long nowNs = 1000;
        for (final int pauseNs : new int[] {10, 20, 40, 50, 50}) {
            reconnection.onFailure(PEER, nowNs, REASON);
            final long lastNs = nowNs + pauseNs - 1;
            assertThrows(ConnectException.class, () -> reconnection.check(PEER, lastNs));
            nowNs += pauseNs;
            final long overNs = nowNs;
            assertDoesNotThrow(() -> reconnection.check(PEER, overNs));
        }
    }

    @Test
    void shouldResetTheDelayAfterASuccessfulConnect() {
        reconnection.onFailure(PEER, 0, REASON);
        reconnection.onFailure(PEER, 0, REASON);
        reconnection.onSuccess(PEER);
        assertDoesNotThrow(() -> reconnection.check(PEER, 0));
        reconnection.onFailure(PEER, 100, REASON);
        assertDoesNotThrow(() -> reconnection.check(PEER, 110));
    }

    @Test
    void shouldReportAPeerThatComesAndGoesEverMoreRarely() throws Exception {
        try (Warnings warnings = new Warnings(Reconnection.class)) {
            for (int i = 0; i < 100; i++) {
                reconnection.onFailure(PEER, 0, REASON);
                reconnection.onSuccess(PEER);
            }
            assertEquals(7, warnings.times("s1 cannot be reached: on purpose (1 failed connects)"));
            assertEquals(7, warnings.times("s1 is reached again, after 1 failed connects"));
            reconnection.onFailure(PEER, 0, REASON);
            reconnection.onFailure(PEER, 0, REASON);
            warnings.await("s1 cannot be reached: on purpose (2 failed connects)");
            reconnection.onSuccess(PEER);
            warnings.await("s1 is reached again, after 2 failed connects");
        }
    }

    @Test
    void shouldNotAffectOtherPeers() {
        reconnection.onFailure(PEER, 0, REASON);
        assertDoesNotThrow(() -> reconnection.check(RaftPeerId.valueOf("s2"), 0));
    }

    @Test
    void shouldReachAServerAgainWithinTheHeartbeatsOfALeader() {
        final RaftProperties properties = new RaftProperties();
        final Reconnection ofServers = Reconnection.ofServers(properties);
        final long heartbeatNs = RaftServerConfigKeys.Rpc.timeoutMin(properties).toLong(TimeUnit.NANOSECONDS) / 2;
        for (int i = 0; i < 30; i++) {
            ofServers.onFailure(PEER, 0, REASON);
            assertThrows(ConnectException.class, () -> ofServers.check(PEER, 0));
            assertDoesNotThrow(() -> ofServers.check(PEER, heartbeatNs));
        }
        assertThrows(ConnectException.class, () -> ofServers.check(PEER, heartbeatNs - 1));
    }

    @Test
    void shouldWaitForALongDelayWhateverTheNumberOfFailures() {
        final long dayNs = TimeUnit.DAYS.toNanos(1);
        final Reconnection patient = new Reconnection(dayNs, TimeUnit.DAYS.toNanos(100));
        for (int i = 0; i < 30; i++) {
            patient.onFailure(PEER, 0, REASON);
            assertThrows(ConnectException.class, () -> patient.check(PEER, dayNs - 1));
        }
    }
}
