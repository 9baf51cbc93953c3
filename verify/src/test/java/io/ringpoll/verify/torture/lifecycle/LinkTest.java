package io.ringpoll.verify.torture.lifecycle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.ringpoll.internal.rc.RcPeer;
import io.ringpoll.internal.rc.RdmaApi;
import io.ringpoll.testing.TestDevice;
import io.ringpoll.verify.torture.supervised.Violations;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LinkTest {
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(20);

    private final SplittableRandom random = new SplittableRandom(1);
    private final Shape shape = Shape.draw(random, true);
    private final Violations violations = new Violations();

    @Test
    void shouldDisconnectAfterTheReceiveThatIsBeingPostedWhereALaterOneNeverCompletes() throws InterruptedException {
        try (RcPeer peer = RdmaApi.VERBS.ofLocal(TestDevice.address());
            Link link = new Link(1, TestDevice.address(), peer, shape, random, false, violations)) {
            final ReentrantLock posting = link.endpoints().getLast().receiveSide();
            final Thread disconnecting = new Thread(link::disconnect, "disconnecting");
            posting.lock();
            try {
                disconnecting.start();
                final long startNs = System.nanoTime();
                while (!posting.hasQueuedThread(disconnecting)) {
                    assertTrue(System.nanoTime() - startNs < PATIENCE_NS, "it disconnects while another thread posts a receive");
                    Thread.onSpinWait();
                }
                assertTrue(link.isBroken());
            } finally {
                posting.unlock();
            }
            disconnecting.join(TimeUnit.NANOSECONDS.toMillis(PATIENCE_NS));
            assertFalse(disconnecting.isAlive());
            assertEquals(List.of(), violations.lines());
        }
    }
}
