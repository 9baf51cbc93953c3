package io.ringpoll.completion;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.ringpoll.os.Errno;
import io.ringpoll.rpma.Peer;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.TestDevice;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls of a verbs queue that the device refuses: the loopback device, as only it fails on request. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RefusedQueueTest {
    @Test
    void shouldNameTheLimitsOnlyIfTheyAreTheReason() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final int most = DeviceAttributes.of(peer.context()).orElseThrow().maxCqe();
            for (final int entries : new int[] {0, 1, most, most + 1}) {
                CallFault.plan(1, Errno.ENOMEM);
                try {
                    final String message = assertThrows(VerbsException.class,
                        () -> VerbsCompletionQueue.create(peer.context(), "q", entries, null)).getMessage();
                    assertEquals(entries < 1 || entries > most, message.contains("q cannot hold " + entries), message);
                } finally {
                    CallFault.plan(0, 0);
                }
            }
        }
    }

    @Test
    void shouldReportThatAnEventCannotBeRequestedAndAQueueNotDestroyed() {
        try (Peer peer = Peer.ofLocal(TestDevice.address())) {
            final VerbsCompletionQueue queue = VerbsCompletionQueue.create(peer.context(), "q", 4, null);
            CallFault.plan(1, Errno.ENOMEM);
            try {
                final VerbsException event =
                    assertThrows(VerbsException.class, () -> queue.requestNotification(false));
                assertEquals("ibv_req_notify_cq", event.function());
                assertEquals(Errno.ENOMEM, event.errno());
                CallFault.plan(1, Errno.ENOMEM);
                final VerbsException end = assertThrows(VerbsException.class, queue::close);
                assertEquals("ibv_destroy_cq", end.function());
                assertEquals(Errno.ENOMEM, end.errno());
            } finally {
                CallFault.plan(0, 0);
            }
        }
    }
}
