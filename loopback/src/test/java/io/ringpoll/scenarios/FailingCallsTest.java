package io.ringpoll.scenarios;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.ringpoll.completion.VerbsException;
import io.ringpoll.os.Errno;
import io.ringpoll.rpma.ConnectionRequest;
import io.ringpoll.rpma.Peer;
import io.ringpoll.rpma.RpmaException;
import io.ringpoll.testing.CallFault;
import io.ringpoll.testing.ConnectedPair;
import io.ringpoll.testing.LogCapture;
import io.ringpoll.testing.ProcessResources;
import io.ringpoll.testing.TestDevice;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/**
 * The life of a connection, again and again, each time with another native call failing, until every one has: each failure is
 * reported by an exception, and nothing stays behind.
 */
class FailingCallsTest {
    private static final int FEWEST_CALLS = 60;
    private static final int MOST_CALLS = 1_000;
    /**
     * Calls that librpma and librdmacm also make without using the result, mostly on cleanup; and an event that is requested
     * again, for errno, and arrives then.
     */
    private static final Set<String> UNNOTICED =
        Set.of("ibv_dealloc_pd", "ibv_get_cq_event", "ibv_query_device", "rdma_ack_cm_event", "rdma_destroy_id");

    /** Every call of the life that can fail, by the name in its exception. */
    private static final Set<String> REPORTED = Set.of("rpma_utils_get_ibv_context", "rpma_peer_new", "rpma_peer_delete",
        "rpma_srq_new", "rpma_srq_delete", "rpma_mr_reg", "rpma_mr_dereg", "rpma_ep_listen", "rpma_ep_next_conn_req",
        "rpma_ep_shutdown", "rpma_conn_req_new", "rpma_conn_req_connect", "rpma_conn_next_event", "rpma_conn_disconnect",
        "rpma_conn_delete", "ibv_req_notify_cq");

    private final Set<String> reported = new TreeSet<>();
    private final ConnectionLife life = new ConnectionLife();

    @AfterEach
    void failNoMore() {
        if (TestDevice.isLoopback()) {
            CallFault.plan(0, 0);
        }
    }

    @Test
    @Timeout(value = 120, unit = TimeUnit.SECONDS)
    void shouldReportEachFailureAndLeakNothing() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device fails on request");
        try (LogCapture log = new LogCapture()) {
            life.runOnce();
            Map<String, Long> objects = ProcessResources.objects();
            int fileDescriptors = ProcessResources.fileDescriptors();
            final Set<String> unnoticed = new TreeSet<>();
            int n = 0;
            int leaks = 0;
            ConnectionLife.Outcome outcome;
            do {
                n++;
                outcome = life.runWithFailingCall(n);
                final String what = "call " + n + ", " + outcome;
                check(what, outcome, unnoticed);
                final Map<String, Long> left = ProcessResources.objectsBackTo(objects);
                if (outcome.isLostByLibrpma() && !objects.equals(left)) {
                    objects = left;
                    fileDescriptors = ProcessResources.fileDescriptors();
                    leaks++;
                }
                assertEquals(objects, left, what);
                final int nowOpen = ProcessResources.fileDescriptorsDownTo(fileDescriptors);
                assertTrue(nowOpen <= fileDescriptors, what + ": file descriptors");
                fileDescriptors = nowOpen;
            } while (outcome.failed().isPresent() && n < MOST_CALLS);
            assertEquals(UNNOTICED, unnoticed);
            assertEquals(REPORTED, reported);
            assertTrue(n > FEWEST_CALLS && n < MOST_CALLS, n + " calls");
            assertEquals(1, leaks, "places in librpma that leave something behind");
        }
    }

    @Test
    @Timeout(value = 60, unit = TimeUnit.SECONDS)
    void shouldReportAFailureOfACallThatTheLifeDoesNotMake() {
        assumeTrue(TestDevice.isLoopback(), "only the loopback device fails on request");
        try (LogCapture log = new LogCapture(); Peer peer = Peer.ofLocal(TestDevice.address())) {
            final Map<String, Long> objects = ProcessResources.objects();
            failing(peer::isOdpCapable, "rpma_utils_ibv_context_is_odp_capable");
            peer.isOdpCapable();
            final ConnectionRequest request = peer.request(TestDevice.address(), ConnectedPair.anyPort());
            failing(request::close, "rpma_conn_req_delete");
            assertTrue(request.isClosed());
            assertEquals(objects, ProcessResources.objects());
            assertTrue(log.messages().size() <= 2, () -> log.messages().toString());
        }
    }

    private static void failing(final Executable use, final String function) {
        CallFault.plan(1, Errno.ENOMEM);
        final RpmaException failure = assertThrows(RpmaException.class, use);
        CallFault.plan(0, 0);
        assertEquals(function, failure.function());
        assertEquals(Errno.ENOMEM, failure.errno(), failure::getMessage);
    }

    private void check(final String what, final ConnectionLife.Outcome outcome, final Set<String> unnoticed) {
        final Optional<RuntimeException> exception = outcome.exception();
        if (outcome.failed().isEmpty()) {
            assertEquals(Optional.empty(), exception, () -> what);
            return;
        }
        if (exception.isEmpty()) {
            unnoticed.add(outcome.failed().get());
            return;
        }
        assertTrue(exception.get() instanceof RpmaException || exception.get() instanceof VerbsException, () -> what);
        reported.add(exception.get().getMessage().replaceAll("\\W.*", ""));
        assertEquals(1, exception.get().getMessage().lines().count(), () -> what);
    }
}
